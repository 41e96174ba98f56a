package dev.puri.search.index;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * An index of identities with one writer and any number of readers.
 *
 * <pre>
 * apply · apply · … ──▶ refresh: readers see the changes
 *                   ──▶ commit:  the changes and a checkpoint are durable
 * </pre>
 *
 * After a crash the index has the state of its last commit, and possibly some later changes. Reading the topics again
 * from {@link #committed} completes it. The same holds after a writer's method (the first five) has thrown: changes
 * since the last commit may be lost. The writer then closes the index, opens it again through its {@link IndexStore},
 * which sets damaged files aside, and continues from {@link #committed}.
 *
 * <p>A read of a closed index throws {@link IndexUnavailableException}. Reads that began before the close complete.
 */
public interface SearchIndex extends AutoCloseable {
    /** Returns the checkpoint of the last commit; {@link IndexCheckpoint#NONE} before the first commit. */
    IndexCheckpoint committed() throws IndexUnavailableException;

    /**
     * Applies changes. Those of one partition must come in its order; changes at or before the last applied or
     * committed offset of their partition have no effect. Readers may see the changes only after {@link #refresh}.
     */
    void apply(List<IndexChange> changes) throws IndexUnavailableException;

    /** Makes all applied changes visible to readers. */
    void refresh() throws IndexUnavailableException;

    /** Makes all applied changes durable, together with a checkpoint. */
    void commit(IndexCheckpoint checkpoint) throws IndexUnavailableException;

    /**
     * Rewrites the files that contain entries deleted before this call, so that no file contains them. This takes long;
     * a thread other than the writer may call it while the writer continues.
     */
    void purge() throws IndexUnavailableException;

    /**
     * Returns one page of a point-in-time view. Thread-safe. Pages by cursors contain every entry exactly once that
     * exists throughout and does not change, whatever is written between the pages.
     *
     * @throws Cursor.InvalidException if the cursor was made by another engine or not by an engine, or for another
     *     query (its limit, facets and highlights may differ)
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

    /** Returns the number of visible entries and the size on disk. Thread-safe. */
    IndexSize size() throws IndexUnavailableException;

    /** Releases all resources. Uncommitted changes are lost. */
    @Override
    void close();
}
