/** {@code puri bench table} and {@code puri bench curve}. */
@NullMarked
package dev.puri.benchmarks.table;

import org.jspecify.annotations.NullMarked;
