/**
 * The index in an OpenSearch cluster, for when one machine is outgrown.
 *
 * <pre>
 * OpenSearchStore   which index serves, which is built: aliases, switched in one step
 *    └─ OpenSearchIndex   one of them
 *          ├─ BulkWriter        changes, each with its place in the log as its version
 *          ├─ SearchBody  queries as JSON
 *          └─ EntryJson   entries as JSON, and back
 *                └──▶ ClusterClient   HTTP, with bounded waits and tries
 * </pre>
 */
@org.jspecify.annotations.NullMarked
package dev.puri.search.opensearch;
