package dev.puri.search.index;

import dev.puri.schemas.log.Row;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A request for one page of hits. A request with a text searches documents; a request without a text lists identities.
 * A hit matches one value of each set; an empty set is no filter.
 *
 * @param text the text that the user typed, see {@link dev.puri.search.words.ParsedQuery}; null for a list. The
 *     constructor replaces a blank text by null. A text without a word, such as "!", finds nothing.
 * @param order {@link Order#RELEVANCE} for a text search, one of the other orders for a list
 * @param collections qualified names, {@code namespace:collection}
 * @param namespaces namespace names
 * @param shards shard names
 * @param owners owner names
 * @param statuses statuses of identities
 * @param limit maximum number of hits on the page, at least 1; {@link PageBudget} may end the page earlier
 * @param after the cursor that the previous page returned; null for the first page
 * @param facets whether to count the hits by collection and by shard
 * @param highlights whether to return highlights of the matches in a text search
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
    /** Maximum number of values of one facet. The values with the most hits are returned. */
    public static final int MAX_FACET_VALUES = 1000;

    /** The order of hits. */
    public enum Order {
        /** Best score first. Hits with equal scores have a fixed order. */
        RELEVANCE,
        /** Largest uuid first. UUIDv7 begins with the time of creation, so the newest identity is first. */
        NEWEST,
        /** Smallest uuid first. */
        OLDEST
    }

    /**
     * @throws IllegalArgumentException if the order does not fit the text, or if the limit is below 1
     */
    public SearchQuery {
        if (limit < 1) {
            throw new IllegalArgumentException("the limit must be at least 1, not " + limit);
        }
        text = text == null || text.isBlank() ? null : text;
        if ((text != null) != (order == Order.RELEVANCE)) {
            throw new IllegalArgumentException("only a text search can be ordered by relevance, and it must be");
        }
        collections = Set.copyOf(collections);
        namespaces = Set.copyOf(namespaces);
        shards = Set.copyOf(shards);
        owners = Set.copyOf(owners);
        statuses = Set.copyOf(statuses);
    }

    /** Returns this query with other collections. */
    public SearchQuery within(Set<String> otherCollections) {
        return new SearchQuery(
                text, order, otherCollections, namespaces, shards, owners, statuses, limit, after, facets, highlights);
    }
}
