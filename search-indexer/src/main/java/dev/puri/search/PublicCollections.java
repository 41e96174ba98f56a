package dev.puri.search;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declarations;
import java.util.Collections;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/** The collections that the public may search, worked out once for each change of the declarations. Thread-safe. */
final class PublicCollections {
    private volatile Names last = new Names(Declarations.of(List.of()), Collections.emptySortedSet());

    private record Names(Declarations declarations, SortedSet<String> names) {}

    /**
     * Those of these declarations.
     *
     * @param declarations the same object as long as nothing changes
     * @return by qualified name, unmodifiable
     */
    SortedSet<String> of(Declarations declarations) {
        Names known = last;
        if (known.declarations() != declarations) {
            TreeSet<String> names = new TreeSet<>();
            for (Collection collection : declarations.collections()) {
                if (collection.isPublic() && collection.search()) {
                    names.add(collection.qualifiedName());
                }
            }
            known = new Names(declarations, Collections.unmodifiableSortedSet(names));
            last = known;
        }
        return known.names();
    }
}
