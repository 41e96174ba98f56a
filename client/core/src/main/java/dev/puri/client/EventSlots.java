package dev.puri.client;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A collection whose elements are removed soon after they were added, mostly in their order. Neighbouring elements share cache
 * lines; a hash set allocates a node for each, which took a fifth of the time of a publish. An element that stays keeps {@value
 * #CHUNK_SIZE} slots allocated. Thread-safe; only a new chunk takes a lock.
 */
final class EventSlots<T> {
    static final int CHUNK_SIZE = 512;

    /** All chunks that have elements or free slots. */
    private final Set<Chunk<T>> chunks = ConcurrentHashMap.newKeySet();

    private volatile Chunk<T> newest = addChunk();

    /** The slot of one element. */
    interface Slot {
        /** Removes the element. Later calls have no effect. */
        void free();
    }

    private static final class Chunk<T> {
        private final AtomicReferenceArray<@Nullable T> elements = new AtomicReferenceArray<>(CHUNK_SIZE);

        /** Slots given to elements; more than there are if threads met at the last one. */
        private final AtomicInteger taken = new AtomicInteger();

        private final AtomicInteger freed = new AtomicInteger();

        int end() {
            return Math.min(taken.get(), CHUNK_SIZE);
        }

        /** Whether this call removed the element. */
        boolean remove(int index) {
            return elements.getAndSet(index, null) != null;
        }
    }

    /** Adds an element. */
    Slot add(T element) {
        while (true) {
            Chunk<T> chunk = newest;
            int index = chunk.taken.getAndIncrement();
            if (index < CHUNK_SIZE) {
                chunk.elements.setRelease(index, element);
                return () -> free(chunk, index);
            }
            replace(chunk);
        }
    }

    private void free(Chunk<T> chunk, int index) {
        if (chunk.remove(index) && chunk.freed.incrementAndGet() == CHUNK_SIZE) {
            chunks.remove(chunk);
        }
    }

    private synchronized void replace(Chunk<T> full) {
        if (newest == full) {
            newest = addChunk();
        }
    }

    private Chunk<T> addChunk() {
        Chunk<T> chunk = new Chunk<>();
        chunks.add(chunk);
        return chunk;
    }

    /** Calls the action for every element that was added before the call and is not removed during it. */
    void forEach(Consumer<T> action) {
        for (Chunk<T> chunk : chunks) {
            for (int i = 0; i < chunk.end(); i++) {
                T element = chunk.elements.get(i);
                if (element != null) {
                    action.accept(element);
                }
            }
        }
    }

    /** Whether there is no element; an element that is being added may not be counted. */
    boolean isEmpty() {
        // Reads freed before taken: otherwise an element that is added and freed between the reads could hide another
        // one.
        return chunks.stream().allMatch(chunk -> chunk.freed.get() == chunk.end());
    }

    /** The number of chunks that are allocated. */
    int chunks() {
        return chunks.size();
    }
}
