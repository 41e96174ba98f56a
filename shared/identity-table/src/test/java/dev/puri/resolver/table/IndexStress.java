package dev.puri.resolver.table;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.Arrays;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** Readers of a segment that the writer rebuilds with more pages, and then with fewer pages. */
final class IndexStress {
    /** A segment of 256 slots is rebuilt with 512 slots for more than 192 entries, and shrinks below 128 entries. */
    private static final int FEW = 127;

    private static final int MANY = 193;

    private static final Slab SLAB = new Slab();
    private static final Index INDEX = new Index(SLAB);

    static {
        for (int key = 0; key < FEW; key++) {
            insert(key);
        }
    }

    private IndexStress() {}

    /**
     * Sixteen heaps of keys with holes between them, so that searches end at free slots and most
     * pass others' entries, which are added and removed.
     */
    private static long hash(int key) {
        return 0xABC0_0000_0000_0000L | (key % 16L << 24 | key) << 26;
    }

    private static void insert(int key) {
        byte[] record = new byte[Slab.UNIT_BYTES];
        Arrays.fill(record, (byte) key);
        record[0] = 1;
        long address = SLAB.allocateRecord(1);
        SLAB.copy(record, 0, address, Slab.UNIT_BYTES);
        INDEX.insert(hash(key), address);
    }

    private static void remove(int key) {
        long address = INDEX.seek(hash(key), record -> record[1] == (byte) key);
        INDEX.remove(hash(key));
        SLAB.freeRecord(address, 1);
    }

    private static long slots() {
        return Math.round(INDEX.entries() / INDEX.load());
    }

    private static boolean isThere(int key) {
        byte[] record = INDEX.find(hash(key), found -> found[1] == (byte) key, found -> {});
        if (record == null) {
            return false;
        }
        for (int i = 1; i < Slab.UNIT_BYTES; i++) {
            if (record[i] != (byte) key) {
                throw new AssertionError("a mixture under key " + key + ": " + Arrays.toString(record));
            }
        }
        return true;
    }

    /** The writer grows and shrinks the segment while a reader looks up entries that stay. */
    @JCStressTest
    @Outcome(id = "all, none", expect = ACCEPTABLE, desc = "what stays is found, what never came is not")
    @Outcome(expect = FORBIDDEN, desc = "a miss of what was there all the time, or what never was")
    @State
    public static class Moving {
        @Actor
        public void write() {
            long before = slots();
            for (int key = FEW; key < MANY; key++) {
                insert(key);
            }
            if (slots() == before) {
                throw new IllegalStateException("the segment was not rebuilt, so the test tests nothing");
            }
            for (int key = FEW; key < MANY; key++) {
                remove(key);
            }
        }

        @Actor
        public void read(LL_Result seen) {
            int missed = 0;
            int strange = 0;
            for (int key = 0; key < FEW; key++) {
                missed += isThere(key) ? 0 : 1;
                strange += isThere(key % (256 - MANY) + MANY) ? 1 : 0;
            }
            seen.r1 = missed == 0 ? "all" : "some";
            seen.r2 = strange == 0 ? "none" : "some";
        }
    }
}
