package dev.puri.search.index;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * An index of identities: one writer, any number of readers.
 *
 * <pre>
 * apply · apply · … ──▶ refresh: readers see it
 *                   ──▶ commit:  it is kept, with how far it goes
 * </pre>
 *
 * After a crash at any moment it is as it was at a commit, or has some of what came later; reading the log
 * again from {@link #committed} makes it whole. The same holds when a writer's method (the upper five) throws: what
 * was taken since the last commit may be lost. Close it, open it anew through its {@link IndexStore}, which sets
 * aside what is damaged, and read on from {@link #committed}.
 *
 * <p>Readers of an index that was closed get an {@link IndexUnavailableException}; those that came before are
 * answered.
 */
public interface SearchIndex extends AutoCloseable {
    /** How far it went when it was last committed; {@link IndexCheckpoint#NONE} when it never was. */
    IndexCheckpoint committed() throws IndexUnavailableException;

    /**
     * Takes changes, those of a partition in its order; what is older than the last of its partition that was
     * taken or committed changes nothing. Readers need not see any before {@link #refresh}.
     */
    void apply(List<IndexChange> changes) throws IndexUnavailableException;

    /** Lets everything that was taken be seen. */
    void refresh() throws IndexUnavailableException;

    /** Keeps everything that was taken, together with how far that is. */
    void commit(IndexCheckpoint reached) throws IndexUnavailableException;

    /**
     * Rewrites what holds entries that were gone when it was called, so that no file does any more. Takes long,
     * so it may be called by another thread than the writer, who goes on meanwhile.
     */
    void purge() throws IndexUnavailableException;

    /**
     * One page, of what could be seen at one moment. Thread-safe. Whoever goes from page to page by cursors meets
     * every entry once that is there all the while and does not change, whatever is written meanwhile.
     *
     * @throws Cursor.InvalidException when the query's cursor was made by another engine, for another query (its
     *     limit, facets and highlights may differ), or by nobody; or when its order cannot be gone on with, as so many
     *     words were written since that could be meant
     */
    SearchResult search(SearchQuery query) throws IndexUnavailableException, Cursor.InvalidException;

    /** The entry that readers see; null when there is none. Thread-safe. */
    @Nullable
    Entry entry(EntryKind kind, Puri puri) throws IndexUnavailableException;

    /** Whose identity bears a handle, as readers see it; null when none does. Thread-safe. */
    @Nullable
    Puri bearer(Handle handle) throws IndexUnavailableException;

    /** Gives every entry of a kind that readers see at one moment, in no order. Thread-safe. */
    void forEach(EntryKind kind, BiConsumer<Puri, Entry> reader) throws IndexUnavailableException;

    /** Entries that readers see, bytes and files that they take. Thread-safe. */
    IndexSize size() throws IndexUnavailableException;

    /** Lets go of everything. What was not committed is lost. */
    @Override
    void close();
}
