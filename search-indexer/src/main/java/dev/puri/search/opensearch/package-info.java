/**
 * The search index in an OpenSearch cluster, for more data than one machine holds.
 *
 * <pre>
 * OpenSearchStore   which index is serving, which is being built: aliases, switched atomically
 *    └─ OpenSearchIndex   one index
 *          ├─ BulkWriter    changes, with their offsets as versions
 *          ├─ SearchBody    queries as JSON
 *          └─ EntryJson     entries as JSON, and back
 *                └──▶ ClusterClient   HTTP, with bounded waits and retries
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package dev.puri.search.opensearch;
