package dev.puri.search.index;

import org.jspecify.annotations.Nullable;

/**
 * Creates, opens, replaces and deletes the indices of one engine: the serving index and, during a rebuild, a second
 * index that will replace the serving index.
 *
 * <pre>
 * openServing() ──────▶ serving index ──────────── promote() ─▶ replaced index ─▶ drop()
 *                                                      │
 * createUnfinished() ─▶ unfinished index ─▶ filled ────┴──────▶ serving index
 *                              │
 *                              └─ crash ─▶ openUnfinished() at the next start; the rebuild continues or drops the index
 * </pre>
 *
 * Not thread-safe.
 */
public interface IndexStore extends AutoCloseable {
    /**
     * Opens the serving index. If there is none, creates an empty index. If the serving index is damaged, has another
     * format, or has entries without a checkpoint, logs a warning and replaces it with an empty index. The engine
     * decides whether it keeps the old index for inspection.
     *
     * @throws IllegalStateException if the serving index is already open
     * @throws IndexUnavailableException if the engine cannot be reached
     */
    SearchIndex openServing() throws IndexUnavailableException;

    /**
     * Opens the unfinished index of an interrupted rebuild at its last commit. Returns null if there is none, or if it
     * cannot be used.
     *
     * @throws IllegalStateException if the unfinished index is already open
     */
    @Nullable
    SearchIndex openUnfinished() throws IndexUnavailableException;

    /**
     * Creates an empty index for a rebuild. The serving index does not change.
     *
     * @throws IllegalStateException if there is already an unfinished index
     */
    SearchIndex createUnfinished() throws IndexUnavailableException;

    /**
     * Commits the unfinished index and atomically makes it the serving index, also for the next start. The replaced
     * index stays open for its readers until {@link #drop}.
     *
     * @throws IndexUnavailableException if the promotion failed; {@link #isServingUnchanged} tells whether the old index
     *     is still the serving one
     */
    void promote() throws IndexUnavailableException;

    /** Returns whether the next {@link #openServing} would open the index that is the serving index now. */
    boolean isServingUnchanged() throws IndexUnavailableException;

    /** Closes and deletes a replaced index or the unfinished index. */
    void drop(SearchIndex index) throws IndexUnavailableException;

    /** Closes all open indices. */
    @Override
    void close();
}
