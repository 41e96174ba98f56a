package dev.puri.schemas.log;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The searchable attributes and the location of an identity: the value of {@code puri.documents.v1}, keyed by pURI.
 * Only identities of searchable collections have a document, and deleted or erased identities have none.
 *
 * @param handle the public name; null if there is none
 * @param status active or merged
 * @param mergedInto the survivor of a merged identity; null otherwise
 * @param attributes searchable text by name
 * @param position the last event that changed this document
 */
public record Document(
        Owner owner,
        Shard shard,
        @Nullable Handle handle,
        Row.Status status,
        @Nullable Puri mergedInto,
        Map<String, String> attributes,
        Position position) {
    /**
     * @throws IllegalArgumentException if the status is deleted, or {@code mergedInto} does not fit the status
     */
    public Document {
        if (status == Row.Status.DELETED) {
            throw new IllegalArgumentException("what is deleted has no document");
        }
        if ((status == Row.Status.MERGED) != (mergedInto != null)) {
            throw new IllegalArgumentException(
                    "a survivor belongs to a merged document: " + status + ", " + mergedInto);
        }
        attributes = Map.copyOf(attributes);
    }
}
