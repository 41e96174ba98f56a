package dev.puri.registry;

import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Row;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The change that an applied event makes to the document of a pURI and to its text, the copy of the document's
 * attributes in the registrar's store. A pURI has a document if and only if it has a text: if it is active or merged,
 * was created or described while its collection was searchable, and has had no event since then while it was not.
 */
sealed interface DocumentUpdate {
    DocumentUpdate NONE = new None();
    DocumentUpdate DELETE = new Delete();

    /** There is no document, and the event creates none. */
    record None() implements DocumentUpdate {}

    /** Writes the document with the attributes of the event, which also replace the stored text. */
    record Write(Row row, Map<String, String> attributes) implements DocumentUpdate {}

    /** Writes the document with the new row and the stored text. */
    record Rewrite(Row row) implements DocumentUpdate {}

    /** Writes a tombstone for the document and deletes the stored text. */
    record Delete() implements DocumentUpdate {}

    /**
     * Returns the update for an applied event.
     *
     * @param hadDocument whether there was a document before the event
     * @param after the row after the event; null after an erasure
     * @param isSearchable whether the pURI's collection is searchable now
     */
    static DocumentUpdate of(boolean hadDocument, Change change, @Nullable Row after, boolean isSearchable) {
        if (after == null) {
            // An erasure must remove every copy, so it does not rely on hadDocument.
            return DELETE;
        }
        if (!isSearchable || after.status() == Row.Status.DELETED) {
            return hadDocument ? DELETE : NONE;
        }
        return switch (change) {
            case Change.Described described -> new Write(after, described.attributes());
            // A created event of an identity that has a document only adds its handle. The stored text is kept, because
            // a described event may have replaced the attributes of the creation.
            case Change.Created created -> hadDocument ? new Rewrite(after) : new Write(after, created.attributes());
            case Change.Moved ignored -> hadDocument ? new Rewrite(after) : NONE;
            case Change.Merged ignored -> hadDocument ? new Rewrite(after) : NONE;
            case Change.Deleted ignored ->
                throw new IllegalStateException("the row is " + after.status() + " after a deleted event");
            case Change.Erased ignored -> throw new IllegalStateException("there is a row after an erased event");
        };
    }

    /** Whether the pURI has a document after the event. */
    default boolean hasDocumentAfter() {
        return switch (this) {
            case None ignored -> false;
            case Write ignored -> true;
            case Rewrite ignored -> true;
            case Delete ignored -> false;
        };
    }
}
