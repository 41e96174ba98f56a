package dev.puri.resolver.live;

import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Selects rows and changes by collection.
 *
 * @param collections canonical {@code namespace:collection}; empty for all
 */
public record CollectionFilter(Set<String> collections) {
    /** Accepts every collection. */
    public static final CollectionFilter ALL = new CollectionFilter(Set.of());

    /** Maximum number of collections in a filter. */
    public static final int MAX_COLLECTIONS = 100;

    private static final int MAX_QUOTED = 100;

    public CollectionFilter {
        collections = Set.copyOf(collections);
    }

    /**
     * Parses names of collections, in upper or lower case. The collections need not be declared.
     *
     * @param texts empty for all collections
     * @throws IllegalArgumentException if a name is invalid, or there are too many
     */
    public static CollectionFilter parse(List<String> texts) {
        if (texts.size() > MAX_COLLECTIONS) {
            throw new IllegalArgumentException("at most " + MAX_COLLECTIONS + " collections are allowed");
        }
        Set<String> collections = new HashSet<>();
        for (String text : texts) {
            try {
                // The grammar is that of whole pURIs, so the collection gets an identifier.
                collections.add(Puri.parse(text + ":x").qualifiedCollection());
            } catch (InvalidNameException e) {
                String quoted = text.length() > MAX_QUOTED ? text.substring(0, MAX_QUOTED) + "…" : text;
                throw new IllegalArgumentException(
                        "not a collection in the form namespace:collection: \"" + quoted + "\"", e);
            }
        }
        return new CollectionFilter(collections);
    }

    boolean accepts(Change change) {
        return collections.isEmpty() || collections.contains(change.collection());
    }
}
