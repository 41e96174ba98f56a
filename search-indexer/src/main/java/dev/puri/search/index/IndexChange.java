package dev.puri.search.index;

import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import org.jspecify.annotations.Nullable;

/**
 * One record of a topic, as a change of the index. The same change may come again, after others of the
 * same partition; the index then ends as if it had not.
 *
 * @param kind of the entry that is changed
 * @param partition of that kind's topic
 * @param offset in it
 * @param puri whose entry
 * @param entry what it is from now on; null when it is gone
 * @param declared how a document's attributes are searched
 */
public record IndexChange(
        EntryKind kind,
        int partition,
        long offset,
        Puri puri,
        @Nullable Entry entry,
        SearchedAttributes declared) {
    /**
     * @throws IllegalArgumentException when the entry is of another kind
     */
    public IndexChange {
        if (entry != null && entry.kind() != kind) {
            throw new IllegalArgumentException(kind + " of " + puri + " cannot be " + entry);
        }
    }

    /**
     * Of a collection that declares nothing of its attributes.
     *
     * @throws IllegalArgumentException when the entry is of another kind
     */
    public IndexChange(EntryKind kind, int partition, long offset, Puri puri, @Nullable Entry entry) {
        this(kind, partition, offset, puri, entry, SearchedAttributes.DEFAULT);
    }
}
