package dev.puri.search;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import dev.puri.tail.Catalogue;
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
 *                                                  polled: it may have been declared a moment before the document was
 *                                                  published; then the default
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

    /** Of what a catalogue has read. */
    static DeclaredAttributes of(Catalogue catalogue) {
        return new DeclaredAttributes(
                new Source() {
                    @Override
                    public boolean hasCaughtUp() {
                        return catalogue.hasCaughtUp();
                    }

                    @Override
                    public @Nullable Duration age() {
                        return catalogue.age();
                    }

                    @Override
                    public @Nullable Collection collection(String qualified) {
                        return catalogue.collection(qualified);
                    }

                    @Override
                    public @Nullable String trouble() {
                        return catalogue.trouble();
                    }
                },
                System::nanoTime);
    }

    /**
     * What is declared of a document's collection.
     *
     * @param polledAt when the document was polled, in nanoseconds of {@link System#nanoTime}; the same at every try
     * @throws UnknownException when it is not known yet
     */
    SearchedAttributes of(Puri puri, long polledAt) {
        if (!source.hasCaughtUp()) {
            throw unknown("they were not read to their end yet");
        }
        String name = puri.qualifiedCollection();
        Collection collection = source.collection(name);
        if (collection != null && collection.search()) {
            return collection.attributes();
        }
        Long sure = undeclaredAt.get(name);
        if (sure == null || polledAt - sure > BELIEVED.toNanos()) {
            if (!isReadSince(polledAt)) {
                throw unknown(name + " is not among them");
            }
            if (undeclaredAt.size() >= MAX_COLLECTIONS) {
                undeclaredAt.clear();
            }
            undeclaredAt.put(name, polledAt);
        }
        return SearchedAttributes.DEFAULT;
    }

    /** Whether all declarations were read that there were at a moment. */
    private boolean isReadSince(long nanos) {
        Duration age = source.age();
        return age != null && age.toNanos() < nanoTime.getAsLong() - nanos;
    }

    private UnknownException unknown(String message) {
        String trouble = source.trouble();
        return new UnknownException(trouble == null ? message : message + " (" + trouble + ")");
    }
}
