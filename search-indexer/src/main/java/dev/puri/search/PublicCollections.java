package dev.puri.search;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declarations;
import java.util.Collections;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Computes the set of collections that the public may search. The set is cached until the declarations change.
 * Thread-safe.
 */
final class PublicCollections {
    private volatile CacheEntry cacheEntry = new CacheEntry(Declarations.of(List.of()), Collections.emptySortedSet());

    private record CacheEntry(Declarations declarations, SortedSet<String> names) {}

    /**
     * Returns the qualified names of the collections that are declared as public and searched.
     *
     * @param declarations the same object as in the last call if nothing has changed
     * @return an unmodifiable set
     */
    SortedSet<String> of(Declarations declarations) {
        CacheEntry current = cacheEntry;
        if (current.declarations() != declarations) {
            TreeSet<String> names = new TreeSet<>();
            for (Collection collection : declarations.collections()) {
                if (collection.isPublic() && collection.search()) {
                    names.add(collection.qualifiedName());
                }
            }
            current = new CacheEntry(declarations, Collections.unmodifiableSortedSet(names));
            cacheEntry = current;
        }
        return current.names();
    }
}
