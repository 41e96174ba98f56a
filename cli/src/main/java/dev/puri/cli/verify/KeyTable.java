package dev.puri.cli.verify;

import dev.puri.cli.verify.StoreKey.Slice;
import java.util.function.Consumer;

/**
 * A hash table from keys to a fixed number of longs, without objects for its entries. Linear probing in arrays that are
 * at most half full. Not thread-safe.
 */
final class KeyTable {
    private static final int MIN_CAPACITY = 1 << 10;

    /** While the table grows, the old and the new arrays are in memory. */
    private static final int SHARE_OF_HEAP = 4;

    private final int width;
    private final int maxSize;
    private long[] entries;
    private boolean[] used;
    private int size;

    /** The table has its maximum number of entries. */
    static final class FullException extends Exception {
        private static final long serialVersionUID = 1L;

        FullException() {
            super("the table is full");
        }
    }

    /** Reads the keys of a slice into a table. */
    interface Reader {
        /**
         * @throws FullException if the keys do not fit; they are then read again in two slices
         */
        KeyTable read(Slice slice) throws FullException;
    }

    /**
     * @param columns number of values of each entry, initially 0
     * @param maxSize maximum number of entries
     */
    KeyTable(int columns, int maxSize) {
        this.width = 2 + columns;
        this.maxSize = maxSize;
        this.entries = new long[MIN_CAPACITY * width];
        this.used = new boolean[MIN_CAPACITY];
    }

    /**
     * Passes tables with all keys to a consumer: one table if the keys fit into it, otherwise several slices of them.
     */
    static void readAll(Reader reader, Consumer<KeyTable> consumer) {
        readAll(Slice.ALL, reader, consumer);
    }

    private static void readAll(Slice slice, Reader reader, Consumer<KeyTable> consumer) {
        KeyTable table;
        try {
            table = reader.read(slice);
        } catch (FullException e) {
            readAll(slice.half(0), reader, consumer);
            readAll(slice.half(1), reader, consumer);
            return;
        }
        consumer.accept(table);
    }

    /** Returns how many entries fit into a part of the heap. */
    static int maxSize(int columns) {
        long bytesPerEntry = 2L * ((2L + columns) * Long.BYTES + 1);
        long entries = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP / bytesPerEntry;
        return (int) Math.min(entries, (Integer.MAX_VALUE - 8) / (4 * (2 + columns)));
    }

    /** Returns the slot of a key, or -1. */
    int find(StoreKey key) {
        int slot = slotOf(key.high(), key.low());
        return used[slot] ? slot : -1;
    }

    /** Returns the slot of a key, and adds it if it is new. Invalidates earlier slots. */
    int add(StoreKey key) throws FullException {
        int slot = slotOf(key.high(), key.low());
        if (used[slot]) {
            return slot;
        }
        if (size >= maxSize) {
            throw new FullException();
        }
        if (2 * (size + 1) > used.length) {
            grow();
            slot = slotOf(key.high(), key.low());
        }
        size++;
        used[slot] = true;
        entries[slot * width] = key.high();
        entries[slot * width + 1] = key.low();
        return slot;
    }

    long get(int slot, int column) {
        return entries[slot * width + 2 + column];
    }

    void set(int slot, int column, long value) {
        entries[slot * width + 2 + column] = value;
    }

    /** Returns the number of slots. Those that {@link #isUsed} have an entry. */
    int slots() {
        return used.length;
    }

    boolean isUsed(int slot) {
        return used[slot];
    }

    StoreKey key(int slot) {
        return new StoreKey(entries[slot * width], entries[slot * width + 1]);
    }

    private int slotOf(long high, long low) {
        int mask = used.length - 1;
        int slot = (int) low & mask;
        while (used[slot] && (entries[slot * width] != high || entries[slot * width + 1] != low)) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private void grow() {
        long[] oldEntries = entries;
        boolean[] oldUsed = used;
        entries = new long[Math.multiplyExact(oldEntries.length, 2)];
        used = new boolean[2 * oldUsed.length];
        for (int old = 0; old < oldUsed.length; old++) {
            if (oldUsed[old]) {
                int slot = slotOf(oldEntries[old * width], oldEntries[old * width + 1]);
                used[slot] = true;
                System.arraycopy(oldEntries, old * width, entries, slot * width, width);
            }
        }
    }
}
