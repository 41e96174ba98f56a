package dev.puri.registry;

import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Row;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an applied event does to the document of its pURI, and to the text that is kept for it. One is
 * there exactly as long as the other: for active and merged identities that were created or described
 * while their collection was searched.
 */
sealed interface DocumentFate {
    DocumentFate NONE = new None();
    DocumentFate GONE = new Gone();

    /** There is none, and none comes of it. */
    record None() implements DocumentFate {}

    /** It is written with the event's text, which replaces whatever was kept. */
    record Written(Row row, Map<String, String> attributes) implements DocumentFate {}

    /** Its text stays, and what stands around it changed. */
    record Renewed(Row row) implements DocumentFate {}

    /** A tombstone is written, and the text is dropped. */
    record Gone() implements DocumentFate {}

    /**
     * Decides it.
     *
     * @param hadOne whether there was a document before the event
     * @param after the row that the event left; null after an erasure
     * @param isSearched whether the pURI's collection is searched now
     */
    static DocumentFate of(boolean hadOne, Change change, @Nullable Row after, boolean isSearched) {
        if (after == null) {
            // Whatever is believed to be there: what has to be forgotten is told to go.
            return GONE;
        }
        if (!isSearched || after.status() == Row.Status.DELETED) {
            return hadOne ? GONE : NONE;
        }
        return switch (change) {
            case Change.Described described -> new Written(after, described.attributes());
            // A creation that finds one gives a handle; the text may have been described anew since.
            case Change.Created created -> hadOne ? new Renewed(after) : new Written(after, created.attributes());
            case Change.Moved ignored -> hadOne ? new Renewed(after) : NONE;
            case Change.Merged ignored -> hadOne ? new Renewed(after) : NONE;
            case Change.Deleted ignored -> throw new IllegalStateException("a deleted row is not deleted");
            case Change.Erased ignored -> throw new IllegalStateException("an erased row is still there");
        };
    }

    /** Whether there is a document after the event. */
    default boolean leavesOne() {
        return switch (this) {
            case None ignored -> false;
            case Written ignored -> true;
            case Renewed ignored -> true;
            case Gone ignored -> false;
        };
    }
}
