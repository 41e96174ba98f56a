/**
 * The identity table: every row packed off-heap, found by pURI and by handle, and saved to disk as snapshots.
 *
 * <p>A <em>record</em> in this package is the packed form of one row, unless it is called a topic record. A
 * <em>word</em> is a text that many rows share, such as an owner; a record contains the code of the word.
 */
@NullMarked
package dev.puri.resolver.table;

import org.jspecify.annotations.NullMarked;
