/** {@code puri bench search}. */
@NullMarked
package dev.puri.benchmarks.search;

import org.jspecify.annotations.NullMarked;
