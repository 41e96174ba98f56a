/**
 * The search engine in an OpenSearch cluster, for more data than one machine can store.
 *
 * <pre>
 * OpenSearchStore          the indices of the cluster; aliases name the serving and the unfinished index
 *  └─ OpenSearchIndex      one index
 *      ├─ BulkWriter       changes ──▶ bulk requests; the version of a document is an offset
 *      ├─ SearchBody       SearchQuery ──▶ JSON of a search request
 *      └─ EntryJson        entry ◀─▶ JSON of a document
 *
 * ClusterClient            HTTP requests of all of these classes; RetryState bounds waits and retries
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package dev.puri.search.opensearch;
