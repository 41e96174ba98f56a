package dev.puri.resolver.table;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Builds the slots of a small table of an {@link Index} on the heap and copies them to the index at once, which is
 * faster than writing slot by slot. It is large, and reused for the next table.
 */
final class Slots {
    private final Slab slab;
    private long[] slots = {};
    private int pages;
    private int count;
    private int taken;

    Slots(Slab slab) {
        this.slab = slab;
    }

    /** Begins a table with at least this many slots, all free. */
    void begin(int atLeast) {
        pages = (atLeast + Slab.PAGE_UNITS - 1) / Slab.PAGE_UNITS;
        count = pages * Slab.PAGE_UNITS;
        if (slots.length < count) {
            slots = new long[count];
        } else {
            Arrays.fill(slots, 0, count, 0);
        }
        taken = 0;
    }

    /** Slots with an entry. */
    int taken() {
        return taken;
    }

    /**
     * Adds an entry, or replaces the one that matches.
     *
     * @param match compares records with the same hash; null when no entry can match
     * @return the address of the replaced entry, or 0
     */
    long add(long slot, Index.@Nullable Match match) {
        int at = Index.home(slot, count);
        while (slots[at] != 0) {
            if (match != null && Index.isSameTag(slots[at], slot)) {
                long there = Index.addressOf(slots[at]);
                byte[] record = slab.read(there);
                if (record != null && match.in(record)) {
                    slots[at] = slot;
                    return there;
                }
            }
            at = at + 1 == count ? 0 : at + 1;
        }
        slots[at] = slot;
        taken++;
        return 0;
    }

    /** Copies the slots to pages; returns the number of slots, then the addresses of the pages. */
    long[] place() {
        long[] array = new long[1 + pages];
        array[0] = count;
        for (int page = 1; page <= pages; page++) {
            array[page] = slab.allocatePage(slots, (page - 1) * Slab.PAGE_UNITS);
        }
        return array;
    }
}
