/**
 * The search indexer: an index of the identities of all shards, and its HTTP API. {@code Indexer} is the map of the
 * indexing, and {@code SearchRoutes} lists every path.
 */
@org.jspecify.annotations.NullMarked
package dev.puri.search;
