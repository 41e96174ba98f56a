/** Brokers, schema registries, child processes and programs that benchmarks run in. */
@NullMarked
package dev.puri.benchmarks.environment;

import org.jspecify.annotations.NullMarked;
