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
 * One page of what was found.
 *
 * @param hits in the query's order, as many as were asked for and {@link PageBudget} has room for
 * @param total how many there are on all pages
 * @param totalIsExact false when there are at least so many; true where facets were asked for
 * @param byCollection hits of all pages by {@code namespace:collection}, the most first; empty unless asked for
 * @param byShard the same by shard
 * @param next where the next page begins; null when this is the last
 */
public record SearchResult(
        List<Hit> hits,
        long total,
        boolean totalIsExact,
        Map<String, Long> byCollection,
        Map<String, Long> byShard,
        @Nullable Cursor next) {
    /**
     * One identity that was found.
     *
     * @param handle null where there is none
     * @param mergedInto the survivor of a merged one; null otherwise
     * @param score how well it fits, higher is better; null in lists
     * @param attributes as they were published; of a list too, where there is a document
     * @param highlights by attribute's name pieces of its text with matches between {@code <em>} and {@code </em>},
     *     all else escaped for HTML; empty in lists, and unless asked for
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
            Map<String, List<String>> highlights) {}
}
