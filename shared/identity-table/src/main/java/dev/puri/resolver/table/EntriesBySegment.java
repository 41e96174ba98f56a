package dev.puri.resolver.table;

import java.util.Arrays;
import java.util.function.LongConsumer;

/**
 * Buffers the entries of an {@link Index} by segment, before the index is built. One thread adds entries. Full pages of
 * entries are stored in the {@link Slab}, where the index reuses the pages afterwards. The rest is on the heap.
 */
final class EntriesBySegment {
    private static final long[] NO_PAGES = {};

    private final Slab slab;

    /** By segment: the entries that do not fill a page yet. */
    private final long[] staged = new long[Index.SEGMENTS * Slab.PAGE_UNITS];

    private final int[] counts = new int[Index.SEGMENTS];
    private final long[][] pages = new long[Index.SEGMENTS][];

    EntriesBySegment(Slab slab) {
        this.slab = slab;
        Arrays.fill(pages, NO_PAGES);
    }

    void add(long hash, long address) {
        int segment = Index.segmentOf(hash);
        int count = counts[segment]++;
        int indexInPage = count % Slab.PAGE_UNITS;
        staged[segment * Slab.PAGE_UNITS + indexInPage] = Index.toSlot(Index.tagOf(hash), address);
        if (indexInPage == Slab.PAGE_UNITS - 1) {
            int fullPages = count / Slab.PAGE_UNITS;
            if (fullPages == pages[segment].length) {
                pages[segment] = Arrays.copyOf(pages[segment], 8 + 2 * fullPages);
            }
            pages[segment][fullPages] = slab.allocatePage(staged, segment * Slab.PAGE_UNITS);
        }
    }

    /** Returns the number of entries of a segment. */
    int count(int segment) {
        return counts[segment];
    }

    /**
     * Passes the entries of a segment to the consumer, and frees their pages. Must be called once for each segment;
     * several threads may call it for different segments.
     *
     * @param pageBuffer an array of {@link Slab#PAGE_UNITS} that this method overwrites
     */
    void drain(int segment, long[] pageBuffer, LongConsumer consumer) {
        int fullPages = counts[segment] / Slab.PAGE_UNITS;
        for (int i = 0; i < fullPages; i++) {
            slab.readPage(pages[segment][i], pageBuffer);
            slab.freePage(pages[segment][i]);
            for (long slot : pageBuffer) {
                consumer.accept(slot);
            }
        }
        int first = segment * Slab.PAGE_UNITS;
        for (int i = first; i < first + counts[segment] % Slab.PAGE_UNITS; i++) {
            consumer.accept(staged[i]);
        }
    }
}
