/**
 * The search engine on one machine, with Lucene.
 *
 * <pre>
 * LuceneStore                the index folders of a store, and which of them is serving
 *  └─ LuceneIndex            one index: one writer thread, many reader threads
 *      ├─ writes
 *      │   ├─ ParallelWriter     changes ──▶ Lucene documents, with several threads
 *      │   ├─ Fields             entry ──▶ fields of a Lucene document
 *      │   └─ StoredEntry        entry ◀─▶ bytes of the stored field
 *      └─ reads
 *          ├─ PageQuery          SearchQuery ──▶ one page: hits, counts, cursor
 *          ├─ LuceneQueryBuilder ParsedQuery ──▶ Lucene query
 *          └─ PointInTimeReader  Lucene document ──▶ entry
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package dev.puri.search.lucene;
