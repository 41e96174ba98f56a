package dev.puri.resolver.table;

import java.util.Arrays;
import java.util.function.LongConsumer;

/**
 * Entries for an {@link Index} that is about to be built, sorted by small table by one thread. They are kept in pages
 * of the slab, which the index needs afterwards; entries that do not fill a page are on the heap.
 */
final class Presorted {
    private static final long[] NO_PAGES = {};

    private final Slab slab;

    /** By small table, the entries that do not fill a page yet. */
    private final long[] staged = new long[Index.TABLES * Slab.PAGE_UNITS];

    private final int[] counts = new int[Index.TABLES];
    private final long[][] pages = new long[Index.TABLES][];

    Presorted(Slab slab) {
        this.slab = slab;
        Arrays.fill(pages, NO_PAGES);
    }

    void add(long hash, long address) {
        int table = Index.table(hash);
        int count = counts[table]++;
        int within = count % Slab.PAGE_UNITS;
        staged[table * Slab.PAGE_UNITS + within] = Index.slot(Index.tag(hash), address);
        if (within == Slab.PAGE_UNITS - 1) {
            int full = count / Slab.PAGE_UNITS;
            if (full == pages[table].length) {
                pages[table] = Arrays.copyOf(pages[table], 8 + 2 * full);
            }
            pages[table][full] = slab.allocatePage(staged, table * Slab.PAGE_UNITS);
        }
    }

    int count(int table) {
        return counts[table];
    }

    /** Shows the entries of a small table and frees their pages; once for each table, by one thread at a time. */
    void drain(int table, long[] page, LongConsumer seen) {
        int full = counts[table] / Slab.PAGE_UNITS;
        for (int i = 0; i < full; i++) {
            slab.readPage(pages[table][i], page);
            slab.freePage(pages[table][i]);
            for (long slot : page) {
                seen.accept(slot);
            }
        }
        int first = table * Slab.PAGE_UNITS;
        for (int i = first; i < first + counts[table] % Slab.PAGE_UNITS; i++) {
            seen.accept(staged[i]);
        }
    }
}
