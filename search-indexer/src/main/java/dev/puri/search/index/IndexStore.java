package dev.puri.search.index;

import org.jspecify.annotations.Nullable;

/**
 * The indices of one engine: the serving index and, during a rebuild, the new index beside it.
 *
 * <pre>
 * serving ──────────────────────────────────▶ dropped
 *            build ──▶ filled ──▶ promote ──▶ serving
 *                  └─ crash ──▶ building() at the next start: continued or dropped
 * </pre>
 *
 * Not thread-safe; one thread uses it at a time.
 */
public interface IndexStore extends AutoCloseable {
    /**
     * Opens the serving index. If there is none, or if it is damaged or has another format, the store logs that and
     * creates an empty one. The engine decides whether it keeps a damaged index for a while.
     *
     * @throws IllegalStateException if the serving index is open
     * @throws IndexUnavailableException if the engine is out of reach
     */
    SearchIndex serving() throws IndexUnavailableException;

    /**
     * Opens the index that an interrupted rebuild left, as of its last commit; null if there is no usable one.
     *
     * @throws IllegalStateException if that index is open
     */
    @Nullable
    SearchIndex building() throws IndexUnavailableException;

    /**
     * Creates an empty index for a rebuild, beside the serving one.
     *
     * @throws IllegalStateException if there is already one
     */
    SearchIndex build() throws IndexUnavailableException;

    /**
     * Commits the rebuilt index and atomically makes it the serving one, now and for the next start. The replaced index
     * stays open for its readers until {@link #drop}.
     */
    void promote() throws IndexUnavailableException;

    /** Closes and deletes the index that a rebuild replaced, or an unfinished one. */
    void drop(SearchIndex index) throws IndexUnavailableException;

    /** Closes all open indices. */
    @Override
    void close();
}
