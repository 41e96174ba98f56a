/** {@code puri bench resolver}. */
@NullMarked
package dev.puri.benchmarks.resolver;

import org.jspecify.annotations.NullMarked;
