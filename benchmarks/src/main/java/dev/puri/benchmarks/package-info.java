/** Figures, each beside a baseline in the same run. */
@NullMarked
package dev.puri.benchmarks;

import org.jspecify.annotations.NullMarked;
