package dev.puri.search.index;

import dev.puri.schemas.log.Row;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One search request. With a text it searches documents, without one it lists identities. An empty set does not filter.
 *
 * @param text typed text as {@link dev.puri.search.words.ParsedQuery} parses it; null or blank makes a list; a text
 *     without a word finds nothing
 * @param order {@link Order#RELEVANCE} with a text, another order without
 * @param collections qualified names, {@code namespace:collection}
 * @param namespaces namespace names
 * @param shards shard names
 * @param owners owner names
 * @param statuses allowed statuses
 * @param limit hits of a page, at least 1; {@link PageBudget} may end the page earlier
 * @param after the cursor of the page before; null for the first page
 * @param facets whether to count the hits by collection and shard
 * @param highlights whether to return highlights of a text's matches
 */
public record SearchQuery(
        @Nullable String text,
        Order order,
        Set<String> collections,
        Set<String> namespaces,
        Set<String> shards,
        Set<String> owners,
        Set<Row.Status> statuses,
        int limit,
        @Nullable Cursor after,
        boolean facets,
        boolean highlights) {
    /** Values of one facet, those with the most hits. */
    public static final int MAX_FACET_VALUES = 1000;

    /** The order of hits. */
    public enum Order {
        /** Best score first. Hits with equal scores have a fixed order. */
        RELEVANCE,
        /** By uuid, descending. With UUIDv7 this is newest first. */
        NEWEST,
        /** By uuid, ascending. */
        OLDEST
    }

    /**
     * @throws IllegalArgumentException if order and text do not go together, or if the limit is below 1
     */
    public SearchQuery {
        if (limit < 1) {
            throw new IllegalArgumentException("a page has at least one hit, not " + limit);
        }
        text = text == null || text.isBlank() ? null : text;
        if ((text != null) != (order == Order.RELEVANCE)) {
            throw new IllegalArgumentException("a text search is ordered by relevance, and a list is not");
        }
        collections = Set.copyOf(collections);
        namespaces = Set.copyOf(namespaces);
        shards = Set.copyOf(shards);
        owners = Set.copyOf(owners);
        statuses = Set.copyOf(statuses);
    }
}
