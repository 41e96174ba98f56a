/**
 * Search over all shards. {@link dev.puri.search.Indexer} is the map, and {@code SearchRoutes} lists every
 * path that is answered.
 */
@org.jspecify.annotations.NullMarked
package dev.puri.search;
