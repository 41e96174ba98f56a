/**
 * The search index on one machine, with Lucene.
 *
 * <pre>
 * LuceneStore ── which folder is serving ──▶ LuceneIndex ── one writer, many readers
 *                                              │ writes                  │ reads
 *                              ParallelWriter: changes ──▶ documents   PageQuery: query ──▶ hits, counts, cursor
 *                              Fields: entry ──▶ fields                TextQuery: parsed query ──▶ Lucene's query
 *                              StoredEntry: entry ◀─▶ bytes            PointInTimeReader: document ──▶ entry
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package dev.puri.search.lucene;
