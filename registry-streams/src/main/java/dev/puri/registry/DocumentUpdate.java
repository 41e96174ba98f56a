package dev.puri.registry;

import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Row;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an applied event does to the pURI's document and to its text in the registrar's store. Either both exist or
 * neither. They exist for active and merged identities that were created or described while their collection was
 * searchable.
 */
sealed interface DocumentUpdate {
    DocumentUpdate NONE = new None();
    DocumentUpdate DELETE = new Delete();

    /** There is no document, and the event creates none. */
    record None() implements DocumentUpdate {}

    /** Writes the document with the event's text, which replaces the stored text. */
    record Write(Row row, Map<String, String> attributes) implements DocumentUpdate {}

    /** Writes the document with the stored text, because the row changed. */
    record Rewrite(Row row) implements DocumentUpdate {}

    /** Writes a tombstone and deletes the stored text. */
    record Delete() implements DocumentUpdate {}

    /**
     * Decides the update.
     *
     * @param hadDocument whether there was a document before the event
     * @param after the row after the event; null after an erasure
     * @param isSearchable whether the pURI's collection is searchable now
     */
    static DocumentUpdate of(boolean hadDocument, Change change, @Nullable Row after, boolean isSearchable) {
        if (after == null) {
            // Even if hadDocument is false: an erasure must not depend on it.
            return DELETE;
        }
        if (!isSearchable || after.status() == Row.Status.DELETED) {
            return hadDocument ? DELETE : NONE;
        }
        return switch (change) {
            case Change.Described described -> new Write(after, described.attributes());
            // A creation of an existing identity adds a handle; a later event may have replaced the creation's text.
            case Change.Created created -> hadDocument ? new Rewrite(after) : new Write(after, created.attributes());
            case Change.Moved ignored -> hadDocument ? new Rewrite(after) : NONE;
            case Change.Merged ignored -> hadDocument ? new Rewrite(after) : NONE;
            case Change.Deleted ignored -> throw new IllegalStateException("a deleted row is not deleted");
            case Change.Erased ignored -> throw new IllegalStateException("an erased row is still there");
        };
    }

    /** Whether the pURI has a document after the event. */
    default boolean leavesDocument() {
        return switch (this) {
            case None ignored -> false;
            case Write ignored -> true;
            case Rewrite ignored -> true;
            case Delete ignored -> false;
        };
    }
}
