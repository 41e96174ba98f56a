package dev.puri.search;

import dev.puri.search.index.IndexHome;
import dev.puri.search.index.SearchIndex;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Indices in memory, which outlive their closing as a folder's do. */
final class MemoryHome implements IndexHome {
    private MemoryIndex serving = new MemoryIndex();
    private @Nullable MemoryIndex building;
    private final List<MemoryIndex> dropped = new ArrayList<>();

    @Override
    public synchronized MemoryIndex serving() {
        return serving;
    }

    @Override
    public synchronized @Nullable MemoryIndex building() {
        return building;
    }

    @Override
    public synchronized MemoryIndex build() {
        if (building != null) {
            throw new IllegalStateException("one is built already");
        }
        building = new MemoryIndex();
        return building;
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
    public synchronized void drop(SearchIndex index) {
        if (index == serving) {
            throw new IllegalStateException("it serves");
        }
        index.close();
        dropped.add((MemoryIndex) index);
        if (index == building) {
            building = null;
        }
    }

    synchronized List<MemoryIndex> dropped() {
        return List.copyOf(dropped);
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
