package dev.puri.search.index;

import dev.puri.schemas.log.Row;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is looked for. With a text it is looked for among the documents, otherwise identities are listed.
 * An empty set lets all pass.
 *
 * @param text what somebody typed: words, "a phrase", a pref*, see {@link dev.puri.search.words.ParsedQuery}; null or
 *     blank lists; one without any word finds nothing
 * @param order only {@link Order#RELEVANCE} with a text, never without
 * @param collections {@code namespace:collection}
 * @param namespaces first segments
 * @param shards by name
 * @param owners by name
 * @param statuses what state it must be in
 * @param limit hits at most, from 1; a page ends before where {@link PageBudget} has no room for more
 * @param after where the page before ended; null for the first
 * @param facets whether to count by collection and shard
 * @param highlights whether to show where a text's words stand
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
    /** Most values that a facet counts, those with the most hits. */
    public static final int MAX_FACET_VALUES = 1000;

    /** In what order hits come. */
    public enum Order {
        /** The best first; equals in an order that stays while they do. */
        RELEVANCE,
        /** By uuid, which for UUIDv7 is by creation: the newest first. */
        NEWEST,
        /** By uuid, the oldest first. */
        OLDEST
    }

    /**
     * @throws IllegalArgumentException when order and text do not go together, or the limit is below 1
     */
    public SearchQuery {
        if (limit < 1) {
            throw new IllegalArgumentException("a page has at least one hit, not " + limit);
        }
        text = text == null || text.isBlank() ? null : text;
        if ((text != null) != (order == Order.RELEVANCE)) {
            throw new IllegalArgumentException("words are found by relevance and lists are in an order of their own");
        }
        collections = Set.copyOf(collections);
        namespaces = Set.copyOf(namespaces);
        shards = Set.copyOf(shards);
        owners = Set.copyOf(owners);
        statuses = Set.copyOf(statuses);
    }
}
