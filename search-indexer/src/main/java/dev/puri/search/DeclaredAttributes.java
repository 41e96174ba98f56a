package dev.puri.search;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import dev.puri.tail.DeclaredCollections;
import dev.puri.tail.Follower;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How the attributes of a document are searched, as its collection declares it. A document is not indexed before that
 * is known: its weights would be wrong until the next rebuild.
 *
 * <pre>
 * the declarations were not read to their end      wait
 * its collection is declared to be searched        as it is declared
 * it is not                                        wait until they were read to their end after the document was
 *                                                  published: it may have been declared a moment before; then the
 *                                                  default
 * </pre>
 *
 * For one thread.
 */
final class DeclaredAttributes {
    /** How long a collection that was certainly not declared counts as undeclared without another wait. */
    private static final Duration BELIEVED = Duration.ofSeconds(10);

    private static final int MAX_COLLECTIONS = 10_000;

    private final Follower follower;
    private final Function<String, @Nullable Collection> declarations;
    private final LongSupplier nanoTime;

    /** By undeclared collection, the last time when that was certain. */
    private final Map<String, Long> undeclaredAt = new HashMap<>();

    /** The declaration is not known yet; the caller tries again. */
    static final class UnknownException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        UnknownException(String message) {
            super(message);
        }
    }

    /**
     * @param follower reads the declarations
     * @param declarations returns the declaration of a {@code namespace:collection}; null when there is none
     * @param nanoTime of {@link System#nanoTime}
     */
    DeclaredAttributes(Follower follower, Function<String, @Nullable Collection> declarations, LongSupplier nanoTime) {
        this.follower = follower;
        this.declarations = declarations;
        this.nanoTime = nanoTime;
    }

    /** Returns the attributes that the collections declare. */
    static DeclaredAttributes of(DeclaredCollections collections) {
        return new DeclaredAttributes(collections, collections::collection, System::nanoTime);
    }

    /**
     * The declaration of a document's collection, or the default if there is none.
     *
     * @param publishedBy an upper bound for the time of the document, by {@link System#nanoTime}; never later at a
     *     later try
     * @throws UnknownException when the declaration is not known yet
     */
    SearchedAttributes of(Puri puri, long publishedBy) {
        if (!follower.hasCaughtUp()) {
            throw unknown("they were not read to their end yet");
        }
        String name = puri.qualifiedCollection();
        Collection declared = declared(name);
        if (declared != null) {
            return declared.attributes();
        }
        Duration age = follower.staleness();
        if (age == null) {
            throw unknown(name + " is not among them");
        }
        // Looked up again: the declaration may have been read after the first look, before the age.
        declared = declared(name);
        if (declared != null) {
            return declared.attributes();
        }
        long readAt = nanoTime.getAsLong() - age.toNanos();
        Long sure = undeclaredAt.get(name);
        boolean isSure = readAt - publishedBy > 0 || sure != null && publishedBy - sure <= BELIEVED.toNanos();
        if (!isSure) {
            throw unknown(name + " is not among them");
        }
        if (sure == null && undeclaredAt.size() >= MAX_COLLECTIONS) {
            undeclaredAt.clear();
        }
        // Later documents of the collection need not wait again.
        undeclaredAt.put(name, readAt);
        return SearchedAttributes.DEFAULT;
    }

    private @Nullable Collection declared(String name) {
        Collection collection = declarations.apply(name);
        return collection != null && collection.search() ? collection : null;
    }

    private UnknownException unknown(String message) {
        String trouble = follower.trouble();
        return new UnknownException(trouble == null ? message : message + " (" + trouble + ")");
    }
}
