package dev.puri.search;

import dev.puri.projection.DeclaredCollections;
import dev.puri.projection.Follower;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks up the searched attributes that the collection of a document declares. A document waits until its declaration
 * is known, because an index keeps the weights of a document until the next rebuild.
 *
 * <pre>
 * state of the declarations                        result
 * topic not read to its end yet                    wait
 * the collection is declared as searched           the declared attributes
 * no such declaration was read                     wait until the topic was read to its end once after the document
 *                                                  was published, since the declaration may be slightly older than
 *                                                  the document; then the default attributes
 * </pre>
 *
 * Not thread-safe.
 */
final class DeclaredAttributes {
    /** How long a collection that was found undeclared counts as undeclared without another wait. */
    private static final Duration UNDECLARED_VALIDITY = Duration.ofSeconds(10);

    private static final int MAX_COLLECTIONS = 10_000;

    private final Follower follower;
    private final Function<String, @Nullable Collection> declarations;
    private final LongSupplier nanoTime;

    /** For each undeclared collection the last time, by {@link System#nanoTime}, when it was certainly undeclared. */
    private final Map<String, Long> undeclaredAtNanos = new HashMap<>();

    /** It is not known yet whether and how the collection is declared. The caller tries again. */
    static final class UnknownException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        UnknownException(String message) {
            super(message);
        }
    }

    /**
     * @param follower follows the topic of the declarations
     * @param declarations returns the declaration of a {@code namespace:collection}; null if none was read
     * @param nanoTime the clock, like {@link System#nanoTime}
     */
    DeclaredAttributes(Follower follower, Function<String, @Nullable Collection> declarations, LongSupplier nanoTime) {
        this.follower = follower;
        this.declarations = declarations;
        this.nanoTime = nanoTime;
    }

    /** Creates a lookup in the declarations that a server follows. */
    static DeclaredAttributes of(DeclaredCollections collections) {
        return new DeclaredAttributes(collections.follower(), collections::collection, System::nanoTime);
    }

    /**
     * Returns the attributes that the collection of a document declares, or the default if it is undeclared.
     *
     * @param publishedBeforeNanos an upper bound for the time of the document, by {@link System#nanoTime}; it must not
     *     grow forever while the caller tries again
     * @throws UnknownException if the declaration is not known yet
     */
    SearchedAttributes attributesOf(Puri puri, long publishedBeforeNanos) {
        if (!follower.hasCaughtUp()) {
            throw unknownBecause("their topic was not read to its end yet");
        }
        String collectionName = puri.qualifiedCollection();
        Collection collection = searchedCollection(collectionName);
        if (collection != null) {
            return collection.attributes();
        }
        Duration staleness = follower.staleness();
        if (staleness == null) {
            throw unknownBecause(collectionName + " is not declared as searched yet");
        }
        // Looks again, because the declaration may have been read between the first look and the staleness.
        collection = searchedCollection(collectionName);
        if (collection != null) {
            return collection.attributes();
        }
        long upToDateAtNanos = nanoTime.getAsLong() - staleness.toNanos();
        Long knownUndeclaredAtNanos = undeclaredAtNanos.get(collectionName);
        boolean isUndeclared = upToDateAtNanos - publishedBeforeNanos > 0
                || knownUndeclaredAtNanos != null
                        && publishedBeforeNanos - knownUndeclaredAtNanos <= UNDECLARED_VALIDITY.toNanos();
        if (!isUndeclared) {
            throw unknownBecause(collectionName + " is not declared as searched yet");
        }
        if (knownUndeclaredAtNanos == null && undeclaredAtNanos.size() >= MAX_COLLECTIONS) {
            undeclaredAtNanos.clear();
        }
        // So that later documents of the collection need not wait again.
        undeclaredAtNanos.put(collectionName, upToDateAtNanos);
        return SearchedAttributes.DEFAULT;
    }

    private @Nullable Collection searchedCollection(String collectionName) {
        Collection collection = declarations.apply(collectionName);
        return collection != null && collection.search() ? collection : null;
    }

    private UnknownException unknownBecause(String message) {
        String failureReason = follower.failureReason();
        return new UnknownException(failureReason == null ? message : message + " (" + failureReason + ")");
    }
}
