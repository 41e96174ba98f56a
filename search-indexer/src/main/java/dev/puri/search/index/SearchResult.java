package dev.puri.search.index;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Entry;
import dev.puri.schemas.log.Row;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One page of hits.
 *
 * @param hits hits in the query's order; the query's limit and the {@link PageBudget} bound their number
 * @param total number of hits on all pages
 * @param totalIsExact false if the total is a lower bound; always true if the query asked for facets
 * @param byCollection number of hits on all pages by {@code namespace:collection}, largest first; empty if
 *     the query did not ask for facets
 * @param byShard number of hits on all pages by shard, largest first; empty if the query did not ask for facets
 * @param next cursor of the next page; null on the last page
 */
public record SearchResult(
        List<Hit> hits,
        long total,
        boolean totalIsExact,
        Map<String, Long> byCollection,
        Map<String, Long> byShard,
        @Nullable Cursor next) {
    /** The result of a query that matches nothing. */
    public static final SearchResult EMPTY = new SearchResult(List.of(), 0, true, Map.of(), Map.of(), null);

    /**
     * One identity of the result.
     *
     * @param handle null if the identity has none
     * @param mergedInto the identity into which this identity was merged; null if this identity was not merged
     * @param score a higher score is a better match; null if the query has no text
     * @param attributes attributes of the document, by name; empty if the identity has no document
     * @param highlights HTML fragments by attribute name, see {@link dev.puri.search.words.Highlighter}; empty if
     *     the query has no text or did not ask for highlights
     */
    public record Hit(
            Puri puri,
            Owner owner,
            Shard shard,
            @Nullable Handle handle,
            Row.Status status,
            @Nullable Puri mergedInto,
            @Nullable Double score,
            Map<String, String> attributes,
            Map<String, List<String>> highlights) {
        /** Returns the hit for an entry. */
        public static Hit of(
                Puri puri,
                Entry entry,
                @Nullable Double score,
                Map<String, String> attributes,
                Map<String, List<String>> highlights) {
            return new Hit(
                    puri,
                    entry.owner(),
                    entry.shard(),
                    entry.handle(),
                    entry.status(),
                    entry.mergedInto(),
                    score,
                    attributes,
                    highlights);
        }

        /** Returns a copy of this hit with new attributes. */
        public Hit withAttributes(Map<String, String> newAttributes) {
            return new Hit(puri, owner, shard, handle, status, mergedInto, score, newAttributes, highlights);
        }
    }
}
