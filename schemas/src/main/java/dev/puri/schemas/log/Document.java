package dev.puri.schemas.log;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The searchable attributes and the location of an identity: a value of {@code puri.documents.v1}, keyed by pURI. Only
 * identities of searchable collections have a document. Deleted and erased identities have none.
 *
 * @param handle the public name; null if there is none
 * @param status active or merged
 * @param mergedInto the identity into which this identity was merged; null if it was not merged
 * @param attributes searchable text by attribute name
 * @param position position of the last event that changed this document
 */
public record Document(
        Owner owner,
        Shard shard,
        @Nullable Handle handle,
        Row.Status status,
        @Nullable Puri mergedInto,
        Map<String, String> attributes,
        Position position)
        implements Entry {
    /**
     * @throws IllegalArgumentException if the status is deleted, if a merged document has no {@code mergedInto}, or if
     *     another document has one
     */
    public Document {
        if (status == Row.Status.DELETED) {
            throw new IllegalArgumentException("a deleted identity has no document");
        }
        if ((status == Row.Status.MERGED) != (mergedInto != null)) {
            throw new IllegalArgumentException(
                    "mergedInto must be set exactly if the status is MERGED: " + status + ", " + mergedInto);
        }
        attributes = Map.copyOf(attributes);
    }
}
