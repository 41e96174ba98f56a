package dev.puri.search.index;

import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import org.jspecify.annotations.Nullable;

/**
 * A change of the index that one record of a topic causes. Changes are idempotent: an index ignores a repeated change,
 * even after later changes of the same partition.
 *
 * @param kind the kind of the changed entry
 * @param partition the record's partition in the topic of this kind
 * @param offset the record's offset
 * @param puri the pURI of the entry
 * @param entry the new entry; null deletes the entry
 * @param searchedAttributes the attribute weights that the document's collection declares; not used for identities
 */
public record IndexChange(
        EntryKind kind,
        int partition,
        long offset,
        Puri puri,
        @Nullable Entry entry,
        SearchedAttributes searchedAttributes) {
    /**
     * @throws IllegalArgumentException if the kind of the entry is not {@code kind}
     */
    public IndexChange {
        if (entry != null && EntryKind.of(entry) != kind) {
            throw new IllegalArgumentException("the change of " + puri + " has the kind " + kind
                    + ", its entry has the kind " + EntryKind.of(entry));
        }
    }

    /**
     * Creates a change with the default attribute weights.
     *
     * @throws IllegalArgumentException if the kind of the entry is not {@code kind}
     */
    public IndexChange(EntryKind kind, int partition, long offset, Puri puri, @Nullable Entry entry) {
        this(kind, partition, offset, puri, entry, SearchedAttributes.DEFAULT);
    }
}
