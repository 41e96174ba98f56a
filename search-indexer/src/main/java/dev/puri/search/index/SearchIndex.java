package dev.puri.search.index;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A search index of identities and their documents, with one writer thread and any number of reader threads.
 *
 * <pre>
 * apply · apply · … ──▶ refresh: readers see the changes
 *                   ──▶ commit:  the changes and a checkpoint are durable
 * </pre>
 *
 * After a crash the index has the state of its last commit, and possibly some later changes. The writer then reads the
 * topics again from the offsets in {@link #committedCheckpoint}. An index that is opened without a checkpoint is empty.
 *
 * <p>After a method of the writer ({@link #apply}, {@link #refresh}, {@link #commit} or {@link #purge}) has thrown, the
 * changes since the last commit may be lost. The writer then closes the index, opens it again through the
 * {@link IndexStore}, and continues from {@link #committedCheckpoint}.
 *
 * <p>A read of a closed index throws {@link IndexUnavailableException}. Reads that began before the close complete.
 */
public interface SearchIndex extends AutoCloseable {
    /** Returns the checkpoint of the last commit; {@link IndexCheckpoint#NONE} before the first commit. */
    IndexCheckpoint committedCheckpoint() throws IndexUnavailableException;

    /**
     * Applies changes. The changes of one partition must come in the order of their offsets. A change has no effect if
     * the index already has a change of the same partition with this offset or a later one. Readers may not see the
     * changes before {@link #refresh}.
     */
    void apply(List<IndexChange> changes) throws IndexUnavailableException;

    /** Makes all applied changes visible to readers. */
    void refresh() throws IndexUnavailableException;

    /** Makes all applied changes and a checkpoint durable. */
    void commit(IndexCheckpoint checkpoint) throws IndexUnavailableException;

    /**
     * Removes from all files the entries that were deleted before this call. This takes long. A thread other than the
     * writer may call this method while the writer continues.
     */
    void purge() throws IndexUnavailableException;

    /**
     * Returns one page of hits in a point-in-time view. An entry that exists and does not change while a client follows
     * the cursors is on exactly one page, even if other entries change between the pages. Thread-safe.
     *
     * @throws Cursor.InvalidException if this engine did not create the cursor, or created it for another query; only
     *     limit, facets and highlights may differ between the pages
     */
    SearchResult search(SearchQuery query) throws IndexUnavailableException, Cursor.InvalidException;

    /** Returns the visible entry of a pURI; null if there is none. Thread-safe. */
    @Nullable
    Entry entry(EntryKind kind, Puri puri) throws IndexUnavailableException;

    /** Returns the pURI of the visible identity with a handle; null if there is none. Thread-safe. */
    @Nullable
    Puri findByHandle(Handle handle) throws IndexUnavailableException;

    /** Passes every entry of a kind in a point-in-time view to a consumer, in no particular order. Thread-safe. */
    void forEach(EntryKind kind, BiConsumer<Puri, Entry> consumer) throws IndexUnavailableException;

    /**
     * Returns the digests of the visible entries, of all partitions in one point-in-time view. It adds up the hashes
     * that were stored when the entries were written. Thread-safe.
     */
    EntryDigests digests() throws IndexUnavailableException;

    /**
     * Passes the stored hash of every visible entry of a partition, with the hash of the stored entry, to a visitor: in
     * a point-in-time view and in no particular order. The view exists until the method returns, and files of removed
     * entries exist as long. Thread-safe.
     *
     * @param visitor ends the iteration by returning false
     */
    void forEachHash(EntryKind kind, int partition, Predicate<StoredHash> visitor) throws IndexUnavailableException;

    /** Returns the number of visible entries and the size on disk. Thread-safe. */
    IndexSize size() throws IndexUnavailableException;

    /** Releases all resources. Changes that were not committed may be lost. */
    @Override
    void close();
}
