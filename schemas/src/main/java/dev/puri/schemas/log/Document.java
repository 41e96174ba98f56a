package dev.puri.schemas.log;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an identity is found by, and where it lives; the value of {@code puri.documents.v1} under its
 * pURI. Only identities have one whose collection is searched, and none that is deleted or erased.
 *
 * @param handle the public name; null where there is none
 * @param status active or merged
 * @param mergedInto the surviving pURI of a merged identity; null otherwise
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
     * @throws IllegalArgumentException when it is deleted, or a survivor is missing or out of place
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
