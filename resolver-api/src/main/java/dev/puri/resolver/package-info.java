/** The identity table and the API that answers from it. */
@NullMarked
package dev.puri.resolver;

import org.jspecify.annotations.NullMarked;
