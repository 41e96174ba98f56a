package dev.puri.search;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import dev.puri.tail.DeclaredCollections;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How collections declare their attributes to be searched, for documents that are about to be indexed. A document is
 * not indexed before it is known what is declared: its weights would be wrong until the next reindexing.
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
    /** How long after it is sure that a collection is not declared that is believed without waiting again. */
    private static final Duration BELIEVED = Duration.ofSeconds(10);

    private static final int MAX_COLLECTIONS = 10_000;

    private final Source source;
    private final LongSupplier nanoTime;

    /** By collection that is not declared, when that was last sure. */
    private final Map<String, Long> undeclaredAt = new HashMap<>();

    /** Declarations as far as they were read. */
    interface Source {
        /** Whether all were read that there were when the reading began. */
        boolean hasCaughtUp();

        /** How long ago it was known that all were read which there were; null when it never was. */
        @Nullable
        Duration age();

        /** Of a {@code namespace:collection}; null when nothing is declared. */
        @Nullable
        Collection collection(String qualified);

        /** Why they are not read, for people; null when they are. */
        @Nullable
        String trouble();
    }

    /** Not known now; to be asked again. */
    static final class UnknownException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        UnknownException(String message) {
            super(message);
        }
    }

    /**
     * @param nanoTime of {@link System#nanoTime}
     */
    DeclaredAttributes(Source source, LongSupplier nanoTime) {
        this.source = source;
        this.nanoTime = nanoTime;
    }

    /** Of what a collections has read. */
    static DeclaredAttributes of(DeclaredCollections collections) {
        return new DeclaredAttributes(
                new Source() {
                    @Override
                    public boolean hasCaughtUp() {
                        return collections.hasCaughtUp();
                    }

                    @Override
                    public @Nullable Duration age() {
                        return collections.staleness();
                    }

                    @Override
                    public @Nullable Collection collection(String qualified) {
                        return collections.collection(qualified);
                    }

                    @Override
                    public @Nullable String trouble() {
                        return collections.trouble();
                    }
                },
                System::nanoTime);
    }

    /**
     * What is declared of a document's collection.
     *
     * @param publishedBy when the document was there at the latest, in nanoseconds of {@link System#nanoTime}; never
     *     later at a later try
     * @throws UnknownException when it is not known yet
     */
    SearchedAttributes of(Puri puri, long publishedBy) {
        if (!source.hasCaughtUp()) {
            throw unknown("they were not read to their end yet");
        }
        String name = puri.qualifiedCollection();
        Collection declared = declared(name);
        if (declared != null) {
            return declared.attributes();
        }
        Duration age = source.age();
        if (age == null) {
            throw unknown(name + " is not among them");
        }
        // Looked up again: the declaration may have been read before the age was.
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
        // A collection whose documents keep coming is not waited for again.
        undeclaredAt.put(name, readAt);
        return SearchedAttributes.DEFAULT;
    }

    private @Nullable Collection declared(String name) {
        Collection collection = source.collection(name);
        return collection != null && collection.search() ? collection : null;
    }

    private UnknownException unknown(String message) {
        String trouble = source.trouble();
        return new UnknownException(trouble == null ? message : message + " (" + trouble + ")");
    }
}
