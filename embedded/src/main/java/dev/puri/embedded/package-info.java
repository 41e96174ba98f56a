/** A real broker in the process and a real schema registry beside it. */
@NullMarked
package dev.puri.embedded;

import org.jspecify.annotations.NullMarked;
