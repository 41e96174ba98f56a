/** The identity table: every row packed off-heap, found by pURI and by handle, kept on disk as snapshots. */
@NullMarked
package dev.puri.resolver.table;

import org.jspecify.annotations.NullMarked;
