/** {@code puri bench ingest}, {@code puri bench import} and {@code puri bench recover}. */
@NullMarked
package dev.puri.benchmarks.ingest;

import org.jspecify.annotations.NullMarked;
