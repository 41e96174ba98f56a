package dev.puri.resolver.table;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A hash index to the addresses of records. It consists of 1,024 small tables with open addressing, chosen by the top
 * bits of the hash, so that each grows by itself and in a short time. A slot is one long: 28 further bits of the hash
 * above 36 bits of the address. The position of a slot follows from these bits, so growing reads no record.
 *
 * <p>One thread writes, and any number of threads read without locks. The writer makes the new record reachable, then
 * increments the small table's <em>stamp</em>, and only then destroys the old state (frees a record or pages, or lets a
 * word be forgotten that only the old record referred to). A reader reads the stamp, the data, and the stamp again. If
 * the stamp is the same, nothing that the reader saw was destroyed before it had finished, and a miss was not caused by
 * a slot that moved. Otherwise it reads once more. A reader never waits for the writer.
 *
 * <pre>
 * writer:  write record · slot := it (release) · stamp+1 (release) · fence · free and reuse the old
 * reader:  stamp (acquire) · slot (acquire) · copy record · look up its words · fence · stamp: the same?
 * </pre>
 */
final class Index {
    static final int TABLE_BITS = 10;
    static final int TABLES = 1 << TABLE_BITS;
    private static final int TAG_BITS = 28;
    private static final int ADDRESS_BITS = 64 - TAG_BITS;
    private static final long ADDRESS = (1L << ADDRESS_BITS) - 1;

    /** A slot whose entry was removed and which has entries after it. */
    private static final long GONE = 1L << ADDRESS_BITS;

    private static final long[] NOTHING = {0};
    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle ARRAY = MethodHandles.arrayElementVarHandle(long[][].class);

    private final Slab slab;

    /**
     * By table, the number of slots, then the addresses of the pages with the slots. An array is never changed but
     * replaced.
     */
    private final long[][] arrays = new long[TABLES][];

    private final long[] stamps = new long[TABLES];

    /** By table, how often the array was replaced; each time increments the stamp too. */
    private final long[] rebuilds = new long[TABLES];

    private final int[] live = new int[TABLES];
    private final int[] used = new int[TABLES];
    private final AtomicLong entries = new AtomicLong();
    private final AtomicLong slots = new AtomicLong();

    /** A bound for growth in advance, because later records may have only a few names. */
    private static final double MOST_GROWTH = 8;

    private static final double LEAST_GROWTH = 1.1;

    /** The expected final number of entries divided by the current one; 0 when not known. */
    private double toCome;

    /** The new slots of a table that is being rebuilt. */
    private final Slots moved;

    private final long[] read = new long[Slab.PAGE_UNITS];

    /** The slot that the writer's last search found. */
    private int place;

    /** The first free slot that the writer's last search passed. */
    private int free;

    /** The record that the writer's last search by key found. */
    private byte @Nullable [] found;

    /** Decides whether a record is the wanted one. */
    interface Match {
        boolean in(byte[] record);
    }

    /** Reads a record, and words that it refers to, before they may be destroyed. */
    interface Reading {
        /** Must not fail if the record is freed already; the result is not used then. */
        void read(byte[] record);
    }

    /** Receives the entries of a small table. */
    interface Taker {
        /** Discards all entries so far: the table is read from its beginning again. */
        void begin();

        void take(long tag, byte[] record);
    }

    Index(Slab slab) {
        this.slab = slab;
        this.moved = new Slots(slab);
        Arrays.fill(arrays, NOTHING);
    }

    static int table(long hash) {
        return (int) (hash >>> (64 - TABLE_BITS));
    }

    static long tag(long hash) {
        return hash >>> (64 - TABLE_BITS - TAG_BITS) & ((1L << TAG_BITS) - 1);
    }

    /** The content of a slot. */
    static long slot(long tag, long address) {
        return tag << ADDRESS_BITS | address;
    }

    static long addressOf(long slot) {
        return slot & ADDRESS;
    }

    static boolean isSameTag(long slot, long other) {
        return (slot ^ other) >>> ADDRESS_BITS == 0;
    }

    /** The slot at which a search for this entry begins. */
    static int home(long slot, int count) {
        return homeOf(slot >>> ADDRESS_BITS, count);
    }

    long entries() {
        return entries.getAcquire();
    }

    double load() {
        long of = slots.getAcquire();
        return of == 0 ? 0 : (double) entries() / of;
    }

    /**
     * Returns the record of this hash that matches, or null; for any thread.
     *
     * @param reading receives the record, perhaps after records that were freed meanwhile
     */
    byte @Nullable [] find(long hash, Match match, Reading reading) {
        int table = table(hash);
        long tag = tag(hash);
        while (true) {
            long stamp = (long) ELEMENT.getAcquire(stamps, table);
            byte[] record = findOnce((long[]) ARRAY.getAcquire(arrays, table), table, stamp, tag, match);
            if (record != null) {
                reading.read(record);
            }
            if (isUnchanged(table, stamp)) {
                return record;
            }
            Thread.onSpinWait();
        }
    }

    /** Returns null also if the stamp has changed; the caller then searches again. */
    private byte @Nullable [] findOnce(long[] array, int table, long stamp, long tag, Match match) {
        int count = (int) array[0];
        int at = homeOf(tag, count);
        for (int probes = 0; probes < count; probes++) {
            long slot = slab.getLongAcquire(address(array, at));
            if (slot == 0) {
                return null;
            }
            if (slot >>> ADDRESS_BITS == tag && (slot & ADDRESS) != 0) {
                byte[] record = slab.read(slot & ADDRESS);
                if (!isUnchanged(table, stamp)) {
                    return null;
                }
                if (record == null) {
                    throw new IllegalStateException("a slot refers to no record");
                }
                if (match.in(record)) {
                    return record;
                }
            }
            at = at + 1 == count ? 0 : at + 1;
        }
        return null;
    }

    private boolean isUnchanged(int table, long stamp) {
        VarHandle.loadLoadFence();
        return (long) ELEMENT.getOpaque(stamps, table) == stamp;
    }

    /**
     * The address of the slot at which a search would begin; 0 when there is none. When the slots of many hashes are
     * read before the searches, the processor waits for all of their memory at once.
     */
    long firstSlot(long hash) {
        long[] array = arrays[table(hash)];
        int count = (int) array[0];
        return count == 0 ? 0 : address(array, homeOf(tag(hash), count));
    }

    /**
     * The address of the record that a search of this hash would compare first; 0 when there is none. For any thread.
     * The record may have been freed, so the bytes there mean nothing.
     */
    long first(long hash) {
        long[] array = (long[]) ARRAY.getAcquire(arrays, table(hash));
        int count = (int) array[0];
        return count == 0 ? 0 : slab.getLongAcquire(address(array, homeOf(tag(hash), count))) & ADDRESS;
    }

    /** Shows all entries of one small table, and begins again if the table is rebuilt meanwhile; for any thread. */
    void read(int table, Taker taker) {
        while (true) {
            taker.begin();
            long rebuilt = (long) ELEMENT.getAcquire(rebuilds, table);
            long[] array = (long[]) ARRAY.getAcquire(arrays, table);
            if (readOnce(table, rebuilt, array, taker)) {
                return;
            }
        }
    }

    private boolean readOnce(int table, long rebuilt, long[] array, Taker taker) {
        int count = (int) array[0];
        for (int at = 0; at < count; at++) {
            while (true) {
                long stamp = (long) ELEMENT.getAcquire(stamps, table);
                if ((long) ELEMENT.getAcquire(rebuilds, table) != rebuilt) {
                    return false;
                }
                long slot = slab.getLongAcquire(address(array, at));
                byte[] record = (slot & ADDRESS) == 0 ? null : slab.read(slot & ADDRESS);
                if (isUnchanged(table, stamp)) {
                    if (record != null) {
                        taker.take(slot >>> ADDRESS_BITS, record);
                    }
                    break;
                }
            }
        }
        VarHandle.loadLoadFence();
        return (long) ELEMENT.getAcquire(rebuilds, table) == rebuilt;
    }

    /** Returns the address of the record that matches, or 0; for the writer. */
    long seek(long hash, Match match) {
        return seek(hash, match, 0);
    }

    /** Finds the entry with this address; returns 0 if there is none. For the writer. */
    long seekAddress(long hash, long address) {
        return seek(hash, null, address);
    }

    private long seek(long hash, @Nullable Match match, long address) {
        long[] array = arrays[table(hash)];
        long tag = tag(hash);
        int count = (int) array[0];
        int at = homeOf(tag, count);
        free = -1;
        for (int probes = 0; probes < count; ) {
            // Slots are adjacent up to the end of their page.
            int last = Math.min(count, (at | Slab.PAGE_UNITS - 1) + 1);
            probes += last - at;
            MemorySegment page = slab.chunk(address(array, at));
            long offset = Slab.offset(address(array, at));
            for (; at < last; at++, offset += Slab.UNIT) {
                long slot = Slab.getLong(page, offset);
                if (slot >>> ADDRESS_BITS == tag && (slot & ADDRESS) != 0) {
                    long there = slot & ADDRESS;
                    if (match == null ? there == address : matches(match, there)) {
                        place = at;
                        return there;
                    }
                } else if ((slot & ADDRESS) == 0) {
                    free = free < 0 ? at : free;
                    if (slot == 0) {
                        return 0;
                    }
                }
            }
            at = at == count ? 0 : at;
        }
        return 0;
    }

    private boolean matches(Match match, long address) {
        found = slab.read(address);
        return found != null && match.in(found);
    }

    /** Returns the record that {@link #seek} found last. */
    byte[] found() {
        byte[] record = found;
        if (record == null) {
            throw new IllegalStateException("nothing was found");
        }
        return record;
    }

    /** Points the last found entry to another record. The caller may then free the previous one. */
    void replace(long hash, long address) {
        slab.putLongRelease(address(arrays[table(hash)], place), tag(hash) << ADDRESS_BITS | address);
        stamp(table(hash));
    }

    /** Adds an entry that does not exist yet. */
    void insert(long hash, long address) {
        seek(hash, null, address);
        insertSought(hash, address);
    }

    /** Adds an entry that the last search did not find. */
    void insertSought(long hash, long address) {
        int table = table(hash);
        if (used[table] + 1 > mostUsed((int) arrays[table][0])) {
            rebuild(table);
            seek(hash, null, address);
        }
        long place = address(arrays[table], free);
        used[table] += slab.getLong(place) == 0 ? 1 : 0;
        slab.putLongRelease(place, tag(hash) << ADDRESS_BITS | address);
        live[table]++;
        entries(1);
    }

    /** Removes the last found entry. The caller may then free its record. */
    void remove(long hash) {
        int table = table(hash);
        long[] array = arrays[table];
        int count = (int) array[0];
        int at = place;
        if (slab.getLong(address(array, at + 1 == count ? 0 : at + 1)) == 0) {
            // No entry follows, so removed slots directly before it can be free too.
            slab.putLongRelease(address(array, at), 0);
            used[table]--;
            for (at = before(at, count); slab.getLong(address(array, at)) == GONE; at = before(at, count)) {
                slab.putLongRelease(address(array, at), 0);
                used[table]--;
            }
        } else {
            slab.putLongRelease(address(array, at), GONE);
        }
        live[table]--;
        entries(-1);
        stamp(table);
        // A predicted size already contains room for later entries.
        if (toCome == 0 && count > Slab.PAGE_UNITS && live[table] < count / 4) {
            rebuild(table);
        }
    }

    /**
     * Installs the slots of a small table. Must be called before any other entry is added, while nothing else reads or
     * writes. Any thread may call it, each for another table.
     */
    void install(int table, Slots made) {
        arrays[table] = made.place();
        live[table] = made.taken();
        used[table] = made.taken();
    }

    /** Counts the installed entries and makes them visible to readers. */
    void installed() {
        for (int table = 0; table < TABLES; table++) {
            entries(live[table]);
            slots((int) arrays[table][0]);
            ARRAY.setRelease(arrays, table, arrays[table]);
        }
    }

    /** Rebuilds a table with the right number of slots. */
    private void rebuild(int table) {
        long[] before = arrays[table];
        moved.begin(slotsFor(live[table] + 1));
        for (int page = 1; page < before.length; page++) {
            slab.readPage(before[page], read);
            for (long slot : read) {
                if ((slot & ADDRESS) != 0) {
                    moved.add(slot, null);
                }
            }
        }
        long[] array = moved.place();
        used[table] = live[table];
        slots((int) (array[0] - before[0]));
        ARRAY.setRelease(arrays, table, array);
        ELEMENT.setRelease(rebuilds, table, rebuilds[table] + 1);
        stamp(table);
        for (int page = 1; page < before.length; page++) {
            slab.freePage(before[page]);
        }
    }

    private static long address(long[] array, int at) {
        return array[1 + (at >>> Slab.PAGE_BITS)] + (at & Slab.PAGE_UNITS - 1);
    }

    /** After this the caller may destroy the old state. */
    private void stamp(int table) {
        ELEMENT.setRelease(stamps, table, stamps[table] + 1);
        VarHandle.fullFence();
    }

    /** Only one thread writes, so this needs no lock. */
    private void entries(int more) {
        entries.setRelease(entries.getPlain() + more);
    }

    private void slots(int more) {
        slots.setRelease(slots.getPlain() + more);
    }

    private static int before(int at, int count) {
        return at == 0 ? count - 1 : at - 1;
    }

    private static int homeOf(long tag, int count) {
        return (int) (tag * count >>> TAG_BITS);
    }

    /** A quarter stays free, because unsuccessful searches would take long. */
    private static int mostUsed(int count) {
        return (int) (count * 3L / 4);
    }

    /**
     * Returns twice the number of used slots, which is 1.5 times the slots of a full table. While a topic is read,
     * returns the expected final number, as if the rest of the topic were like the part that was read.
     */
    private int slotsFor(int entries) {
        return (int) (toCome > 1 ? entries * Math.clamp(toCome, LEAST_GROWTH, MOST_GROWTH) * 4 / 3 : 2.0 * entries);
    }

    /**
     * Sets the expected final number of entries divided by the current one; 0 if not known.
     */
    void foretell(double times) {
        toCome = times;
    }
}
