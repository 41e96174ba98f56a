/** {@code puri bench ingest}. */
@NullMarked
package dev.puri.benchmarks.ingest;

import org.jspecify.annotations.NullMarked;
