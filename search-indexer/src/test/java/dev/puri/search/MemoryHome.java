package dev.puri.search;

import dev.puri.search.index.IndexStore;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import org.jspecify.annotations.Nullable;

/** Indices in memory, which outlive their closing as a folder's do. */
final class MemoryHome implements IndexStore {
    private MemoryIndex serving = new MemoryIndex();
    private @Nullable MemoryIndex building;
    private boolean isBuiltAway;
    private boolean isDroppingAway;
    private int mistakes;

    /** Whether the next that is built is out of reach from the beginning. */
    synchronized void setBuiltAway(boolean away) {
        isBuiltAway = away;
    }

    /** Whether nothing can be dropped. */
    synchronized void setDroppingAway(boolean away) {
        isDroppingAway = away;
    }

    /** How often the one that serves was to be dropped. */
    synchronized int mistakes() {
        return mistakes;
    }

    @Override
    public synchronized MemoryIndex serving() {
        return serving;
    }

    @Override
    public synchronized @Nullable MemoryIndex building() {
        MemoryIndex left = building;
        if (left != null && left.isClosed()) {
            left.crash();
        }
        return left;
    }

    @Override
    public synchronized MemoryIndex build() {
        if (building != null) {
            throw new IllegalStateException("one is built already");
        }
        MemoryIndex built = new MemoryIndex();
        built.setAway(isBuiltAway);
        building = built;
        return built;
    }

    @Override
    public synchronized void promote() {
        MemoryIndex next = building;
        if (next == null) {
            throw new IllegalStateException("none is built");
        }
        serving = next;
        building = null;
    }

    @Override
    public synchronized void drop(SearchIndex index) throws IndexUnavailableException {
        if (index == serving) {
            mistakes++;
            throw new IllegalStateException("it serves");
        }
        if (isDroppingAway) {
            throw new IndexUnavailableException("nothing is dropped now", new IllegalStateException());
        }
        index.close();
        if (index == building) {
            building = null;
        }
    }

    /** What was not committed is lost. */
    @Override
    public synchronized void close() {
        serving.crash();
        MemoryIndex left = building;
        if (left != null) {
            left.crash();
        }
    }
}
