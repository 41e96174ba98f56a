/** The resolver: it reads the identity table and answers requests from it. {@code Routes} lists every path. */
@NullMarked
package dev.puri.resolver;

import org.jspecify.annotations.NullMarked;
