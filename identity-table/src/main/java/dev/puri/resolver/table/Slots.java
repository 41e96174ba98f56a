package dev.puri.resolver.table;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A small table of an {@link Index} in the making: in the heap and in one piece, which is quicker than
 * slot by slot where it will stand. Used again from table to table, for it is large.
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

    /** Begins with nothing but free slots, at least so many. */
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
     * Adds an entry, or replaces one that is the same in the caller's eyes.
     *
     * @param match asked of records whose hash is the same; null when there is no such entry
     * @return the address of the entry replaced, else 0
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

    /** Puts them where readers will find them: the number of slots, and then the addresses of their pages. */
    long[] place() {
        long[] array = new long[1 + pages];
        array[0] = count;
        for (int page = 1; page <= pages; page++) {
            array[page] = slab.allocatePage(slots, (page - 1) * Slab.PAGE_UNITS);
        }
        return array;
    }
}
