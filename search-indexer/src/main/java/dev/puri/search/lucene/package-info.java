/**
 * The index on one machine's disk, by Lucene.
 *
 * <pre>
 * LuceneStore ── which folder serves ──▶ LuceneIndex ── one writer, many readers
 *                                          │ writes                │ reads
 *                               Fields: entry ──▶ fields     PageQuery: query ──▶ hits, counts, cursor
 *                               StoredEntry: entry ◀─▶ bytes   TextQuery: what is wanted ──▶ Lucene's query
 *                                                              Closeness: how well a hit fits
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package dev.puri.search.lucene;
