package dev.puri.search.index;

import org.jspecify.annotations.Nullable;

/**
 * Where an engine keeps its indices: the one that serves, and now and then one that is being built
 * beside it.
 *
 * <pre>
 * serving ─────────────────────────────▶ dropped
 *            build ──▶ filled ──▶ promote ──▶ serving
 *                  └─ crash ──▶ building() of the next start: gone on with, or discarded
 * </pre>
 *
 * Used by one thread at a time.
 */
public interface IndexStore extends AutoCloseable {
    /**
     * Opens the index that serves, or makes an empty one where there is none. One that is damaged, or of another
     * version, makes room for an empty one, with a message in the log; whether it is kept for a while is the engine's
     * affair.
     *
     * @throws IllegalStateException when it is open already
     * @throws IndexUnavailableException when the engine is out of reach
     */
    SearchIndex serving() throws IndexUnavailableException;

    /**
     * What an interrupted reindexing left, as far as it was committed; null when there is none that can be used.
     *
     * @throws IllegalStateException when it is open already
     */
    @Nullable
    SearchIndex building() throws IndexUnavailableException;

    /**
     * Makes an empty index beside the one that serves.
     *
     * @throws IllegalStateException when there is one already
     */
    SearchIndex build() throws IndexUnavailableException;

    /**
     * Commits the index that was built and makes it the one that serves, at once and for the next start;
     * after a crash it is either one or the other. The one before stays open for readers that hold it,
     * until {@link #drop}.
     */
    void promote() throws IndexUnavailableException;

    /** Closes and removes the index that served before, or the one that was being built. */
    void drop(SearchIndex index) throws IndexUnavailableException;

    /** Closes what is open. */
    @Override
    void close();
}
