package dev.puri.search.index;

import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import org.jspecify.annotations.Nullable;

/**
 * One record of a topic as a change of the index. Changes are idempotent: applying one again, even after later changes
 * of its partition, leaves the index as it was.
 *
 * @param kind the kind of the changed entry
 * @param partition the partition of that kind's topic
 * @param offset the offset in the partition
 * @param puri the pURI of the entry
 * @param entry the new entry; null deletes the entry
 * @param declared the search declaration of the document's collection
 */
public record IndexChange(
        EntryKind kind,
        int partition,
        long offset,
        Puri puri,
        @Nullable Entry entry,
        SearchedAttributes declared) {
    /**
     * @throws IllegalArgumentException if the entry has another kind
     */
    public IndexChange {
        if (entry != null && entry.kind() != kind) {
            throw new IllegalArgumentException(kind + " of " + puri + " cannot be " + entry);
        }
    }

    /**
     * Creates a change in a collection without a search declaration.
     *
     * @throws IllegalArgumentException if the entry has another kind
     */
    public IndexChange(EntryKind kind, int partition, long offset, Puri puri, @Nullable Entry entry) {
        this(kind, partition, offset, puri, entry, SearchedAttributes.DEFAULT);
    }
}
