package dev.puri.search.index;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Row;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One page of hits.
 *
 * @param hits hits in the query's order, up to the query's limit and the {@link PageBudget}
 * @param total number of hits on all pages
 * @param totalIsExact false if the total is a lower bound; always true with facets
 * @param byCollection number of hits on all pages by {@code namespace:collection}, largest first; empty without facets
 * @param byShard number of hits on all pages by shard, largest first; empty without facets
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
     * One identity.
     *
     * @param handle null if there is none
     * @param mergedInto the surviving identity of a merge; null if this identity was not merged
     * @param score higher is better; null in lists
     * @param attributes attributes of the document; empty if there is no document
     * @param highlights HTML fragments by attribute name, see {@link dev.puri.search.words.Highlighter}; empty in lists
     *     and without highlights
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
        /** Returns a hit of an entry. */
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

        /** Returns the hit with other attributes. */
        public Hit withAttributes(Map<String, String> newAttributes) {
            return new Hit(puri, owner, shard, handle, status, mergedInto, score, newAttributes, highlights);
        }
    }
}
