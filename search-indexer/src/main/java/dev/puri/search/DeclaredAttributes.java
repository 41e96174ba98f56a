package dev.puri.search;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import dev.puri.tail.Catalogue;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How collections declare their attributes to be searched, for documents that are about to be indexed. A document is
 * not indexed before it is known what is declared: its weights would be wrong until the next reindexing.
 *
 * <pre>
 * the declarations were not read to their end      wait
 * its collection is declared to be searched        as it is declared
 * it is not                                        wait until they were read to their end again: it may have been
 *                                                  declared a moment ago, as apply and publish follow one another;
 *                                                  then as usual
 * </pre>
 *
 * For one thread.
 */
final class DeclaredAttributes {
    /** How long it is believed that a collection that is not declared was not declared a moment ago. */
    private static final Duration BELIEVED = Duration.ofSeconds(10);

    private final Catalogue catalogue;

    /** When it was asked last whether there are newer declarations, by {@link System#nanoTime}; null when it never was. */
    private @Nullable Long askedAt;

    /** Not known now; to be asked again. */
    static final class UnknownException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        UnknownException(String message) {
            super(message);
        }
    }

    DeclaredAttributes(Catalogue catalogue) {
        this.catalogue = catalogue;
    }

    /**
     * What is declared of a document's collection.
     *
     * @throws UnknownException when it is not known yet
     */
    SearchedAttributes of(Puri puri) {
        if (!catalogue.hasCaughtUp()) {
            throw unknown("they were not read to their end yet");
        }
        String name = puri.qualifiedCollection();
        Collection collection = catalogue.collection(name);
        if (collection != null && collection.search()) {
            return collection.attributes();
        }
        if (askedAt == null || System.nanoTime() - askedAt > BELIEVED.toNanos() && isReadSince(askedAt)) {
            askedAt = System.nanoTime();
        }
        if (!isReadSince(askedAt)) {
            throw unknown(name + " is not among them");
        }
        return SearchedAttributes.DEFAULT;
    }

    /** Whether all declarations were read that there were at a moment. */
    private boolean isReadSince(long nanos) {
        Duration age = catalogue.age();
        return age != null && age.toNanos() < System.nanoTime() - nanos;
    }

    private UnknownException unknown(String message) {
        String trouble = catalogue.trouble();
        return new UnknownException(trouble == null ? message : message + " (" + trouble + ")");
    }
}
