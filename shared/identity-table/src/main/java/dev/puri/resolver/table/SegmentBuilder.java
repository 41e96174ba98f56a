package dev.puri.resolver.table;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Builds the slots of one segment of an {@link Index} in an array on the heap, and then copies them to off-heap pages.
 * This is faster than writing each slot off-heap. The array is large, so it is reused for the next segment.
 */
final class SegmentBuilder {
    private final Slab slab;
    private long[] slots = {};
    private int pageCount;
    private int slotCount;
    private int entryCount;

    SegmentBuilder(Slab slab) {
        this.slab = slab;
    }

    /** Starts a segment with at least this many slots, all free. */
    void begin(int minSlots) {
        pageCount = (minSlots + Slab.PAGE_UNITS - 1) / Slab.PAGE_UNITS;
        slotCount = pageCount * Slab.PAGE_UNITS;
        if (slots.length < slotCount) {
            slots = new long[slotCount];
        } else {
            Arrays.fill(slots, 0, slotCount, 0);
        }
        entryCount = 0;
    }

    /** Returns the number of entries added so far. */
    int entryCount() {
        return entryCount;
    }

    /**
     * Adds an entry, or replaces the entry whose record matches.
     *
     * @param slot the tag and the address of the entry
     * @param matcher decides whether a record has the same pURI or handle as the new entry; null if no record has
     * @return the address of the replaced record, or 0 if none was replaced
     */
    long add(long slot, Index.@Nullable RecordMatcher matcher) {
        int index = Index.homeOf(slot, slotCount);
        while (slots[index] != 0) {
            if (matcher != null && Index.isSameTag(slots[index], slot)) {
                long address = Index.addressOf(slots[index]);
                byte[] record = slab.read(address);
                if (record != null && matcher.matches(record)) {
                    slots[index] = slot;
                    return address;
                }
            }
            index = index + 1 == slotCount ? 0 : index + 1;
        }
        slots[index] = slot;
        entryCount++;
        return 0;
    }

    /** Copies the slots to newly allocated pages. Returns the number of slots, then the addresses of the pages. */
    long[] copyToPages() {
        long[] directory = new long[1 + pageCount];
        directory[0] = slotCount;
        for (int page = 1; page <= pageCount; page++) {
            directory[page] = slab.allocatePage(slots, (page - 1) * Slab.PAGE_UNITS);
        }
        return directory;
    }
}
