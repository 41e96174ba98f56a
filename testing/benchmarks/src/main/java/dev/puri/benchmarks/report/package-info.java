/** Commands, rounds, figures and their output. */
@NullMarked
package dev.puri.benchmarks.report;

import org.jspecify.annotations.NullMarked;
