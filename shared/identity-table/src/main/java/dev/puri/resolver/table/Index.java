package dev.puri.resolver.table;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A hash index from a pURI or a handle to the address of its record in a {@link Slab}.
 *
 * <p>The top 10 bits of the hash choose one of 1,024 segments. Each segment is a hash table with open addressing and
 * linear probing. A segment grows alone, so growth takes little time. A slot is one long: a <em>tag</em>, which is the
 * next 28 bits of the hash, and an address of 36 bits. The tag determines the slot at which a search begins, so the
 * writer can rebuild a segment without reading records.
 *
 * <p>One thread writes, and any number of threads read without locks. Each segment has a version counter, its
 * <em>stamp</em>. The writer first makes the new record reachable, then increments the stamp, and only then destroys
 * the old state: it frees the old record or the old pages, and allows {@link Dictionaries} to remove words that only
 * the old record used. A reader reads the stamp, copies the record, and reads the stamp again. If both stamps are
 * equal, nothing that the reader read was destroyed while it read, and a miss was not caused by a slot that moved. If
 * they differ, the reader starts over. A reader never waits for the writer.
 *
 * <pre>
 * writer:  write new record · point slot to it (release) · stamp + 1 (release) · fence · free old record
 * reader:  stamp (acquire) · slot (acquire) · copy record · look up its words · fence · compare stamp
 * </pre>
 */
final class Index {
    static final int SEGMENT_BITS = 10;
    static final int SEGMENTS = 1 << SEGMENT_BITS;
    static final int TAG_BITS = 28;
    private static final int ADDRESS_BITS = 64 - TAG_BITS;
    private static final long ADDRESS_MASK = (1L << ADDRESS_BITS) - 1;

    /** The content of a slot whose entry was removed. A search continues after such a slot. */
    private static final long REMOVED = 1L << ADDRESS_BITS;

    /**
     * Limits the number of slots that are reserved in advance, because the records that are still to read may replace
     * entries instead of adding entries.
     */
    private static final double MAX_GROWTH = 8;

    private static final double MIN_GROWTH = 1.1;

    /** The directory of an empty segment. */
    private static final long[] NO_SLOTS = {0};

    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle DIRECTORIES = MethodHandles.arrayElementVarHandle(long[][].class);

    private final Slab slab;

    /**
     * By segment: the number of its slots, then the addresses of the pages that contain them. The writer replaces a
     * directory instead of changing it.
     */
    private final long[][] directories = new long[SEGMENTS][];

    /** By segment: its stamp. */
    private final long[] stamps = new long[SEGMENTS];

    /** By segment: how often it was rebuilt. A rebuild increments the stamp too. */
    private final long[] rebuildCounts = new long[SEGMENTS];

    /** By segment: the number of its entries. */
    private final int[] entryCounts = new int[SEGMENTS];

    /** By segment: the number of slots that are not free, which contain an entry or {@link #REMOVED}. */
    private final int[] usedCounts = new int[SEGMENTS];

    private final AtomicLong entryTotal = new AtomicLong();
    private final AtomicLong slotTotal = new AtomicLong();

    /** The expected final number of entries divided by the current number; 0 if unknown. */
    private double expectedGrowth;

    /** The new slots of the segment that is being rebuilt. */
    private final SegmentBuilder rebuiltSlots;

    private final long[] pageBuffer = new long[Slab.PAGE_UNITS];

    /** The index of the slot that the writer's last search found. */
    private int foundIndex;

    /** The index of the first reusable slot that the writer's last search passed; -1 if none. */
    private int reusableIndex;

    /** The last record that {@link #seek} compared. It matches only if {@link #seek} found it. */
    private byte @Nullable [] lastReadRecord;

    /** Decides whether a record has the pURI or the handle of a search. */
    interface RecordMatcher {
        boolean matches(byte[] record);
    }

    /** Reads a copied record, and looks up its {@link Dictionaries}, before the reader compares the stamp. */
    interface RecordConsumer {
        /** Must not fail if the record was freed. The index then calls it again with another record, or finds none. */
        void read(byte[] record);
    }

    /** Receives the entries of a segment. */
    interface EntryConsumer {
        /** Discards all entries received so far, because the segment is read from its first slot. */
        void restart();

        void accept(long tag, byte[] record);

        /** Called for an entry that points to no record, because its memory is damaged. */
        default void acceptDamaged() {}
    }

    Index(Slab slab) {
        this.slab = slab;
        this.rebuiltSlots = new SegmentBuilder(slab);
        Arrays.fill(directories, NO_SLOTS);
    }

    static int segmentOf(long hash) {
        return (int) (hash >>> (64 - SEGMENT_BITS));
    }

    static long tagOf(long hash) {
        return hash >>> (64 - SEGMENT_BITS - TAG_BITS) & ((1L << TAG_BITS) - 1);
    }

    /** Returns the content of a slot with this tag and address. */
    static long toSlot(long tag, long address) {
        return tag << ADDRESS_BITS | address;
    }

    static long addressOf(long slot) {
        return slot & ADDRESS_MASK;
    }

    static boolean isSameTag(long slot, long otherSlot) {
        return (slot ^ otherSlot) >>> ADDRESS_BITS == 0;
    }

    /** Returns the index of the slot at which a search for this entry, a tag and an address, begins. */
    static int homeOf(long entry, int slotCount) {
        return homeOfTag(entry >>> ADDRESS_BITS, slotCount);
    }

    long entries() {
        return entryTotal.getAcquire();
    }

    double load() {
        long slots = slotTotal.getAcquire();
        return slots == 0 ? 0 : (double) entries() / slots;
    }

    /**
     * Returns a copy of the record that has this hash and matches, or null. Any thread may call it.
     *
     * @param consumer receives the record, and perhaps before it records that turned out to be freed
     */
    byte @Nullable [] find(long hash, RecordMatcher matcher, RecordConsumer consumer) {
        int segment = segmentOf(hash);
        long tag = tagOf(hash);
        while (true) {
            long stamp = (long) LONGS.getAcquire(stamps, segment);
            byte[] record =
                    findOnce((long[]) DIRECTORIES.getAcquire(directories, segment), segment, stamp, tag, matcher);
            if (record != null) {
                consumer.read(record);
            }
            if (isUnchanged(segment, stamp)) {
                return record;
            }
            Thread.onSpinWait();
        }
    }

    /** Also returns null if the stamp has changed. The caller then searches again. */
    private byte @Nullable [] findOnce(long[] directory, int segment, long stamp, long tag, RecordMatcher matcher) {
        int slotCount = (int) directory[0];
        int index = homeOfTag(tag, slotCount);
        for (int probes = 0; probes < slotCount; probes++) {
            long slot = slab.getLongAcquire(address(directory, index));
            if (slot == 0) {
                return null;
            }
            if (slot >>> ADDRESS_BITS == tag && (slot & ADDRESS_MASK) != 0) {
                byte[] record = slab.read(slot & ADDRESS_MASK);
                if (!isUnchanged(segment, stamp)) {
                    return null;
                }
                if (record == null) {
                    throw new IllegalStateException("a slot contains an address at which there is no record");
                }
                if (matcher.matches(record)) {
                    return record;
                }
            }
            index = index + 1 == slotCount ? 0 : index + 1;
        }
        return null;
    }

    private boolean isUnchanged(int segment, long stamp) {
        VarHandle.loadLoadFence();
        return (long) LONGS.getOpaque(stamps, segment) == stamp;
    }

    /**
     * Returns the address of the slot at which a search for this hash begins, or 0 if the segment is empty. A caller
     * prefetches the slots of many hashes before the searches, so that the processor loads them in parallel.
     */
    long homeAddress(long hash) {
        long[] directory = directories[segmentOf(hash)];
        int slotCount = (int) directory[0];
        return slotCount == 0 ? 0 : address(directory, homeOfTag(tagOf(hash), slotCount));
    }

    /**
     * Returns the record address in the slot at which a search for this hash begins, or 0 if the slot has none. Any
     * thread may call it, but only to prefetch: the record may have another hash, or may have been freed.
     */
    long firstAddress(long hash) {
        long[] directory = (long[]) DIRECTORIES.getAcquire(directories, segmentOf(hash));
        int slotCount = (int) directory[0];
        return slotCount == 0
                ? 0
                : slab.getLongAcquire(address(directory, homeOfTag(tagOf(hash), slotCount))) & ADDRESS_MASK;
    }

    /** Returns copies of all records of a segment. */
    SegmentEntries read(int segment) {
        SegmentEntries entries = new SegmentEntries();
        read(segment, entries);
        return entries;
    }

    /** Passes all entries of a segment to the consumer. Starts over if the writer rebuilds the segment meanwhile. */
    void read(int segment, EntryConsumer consumer) {
        while (true) {
            consumer.restart();
            long rebuildCount = (long) LONGS.getAcquire(rebuildCounts, segment);
            long[] directory = (long[]) DIRECTORIES.getAcquire(directories, segment);
            if (readOnce(segment, rebuildCount, directory, consumer)) {
                return;
            }
        }
    }

    private boolean readOnce(int segment, long rebuildCount, long[] directory, EntryConsumer consumer) {
        int slotCount = (int) directory[0];
        for (int index = 0; index < slotCount; index++) {
            while (true) {
                long stamp = (long) LONGS.getAcquire(stamps, segment);
                if ((long) LONGS.getAcquire(rebuildCounts, segment) != rebuildCount) {
                    return false;
                }
                long slot = slab.getLongAcquire(address(directory, index));
                byte[] record = (slot & ADDRESS_MASK) == 0 ? null : slab.read(slot & ADDRESS_MASK);
                if (isUnchanged(segment, stamp)) {
                    if (record != null) {
                        consumer.accept(slot >>> ADDRESS_BITS, record);
                    } else if ((slot & ADDRESS_MASK) != 0) {
                        consumer.acceptDamaged();
                    }
                    break;
                }
            }
        }
        VarHandle.loadLoadFence();
        return (long) LONGS.getAcquire(rebuildCounts, segment) == rebuildCount;
    }

    /** Returns the address of the record that matches, or 0 if there is none. Called by the writer. */
    long seek(long hash, RecordMatcher matcher) {
        return seek(hash, matcher, 0);
    }

    /** Returns the given address if an entry has it, or 0. Called by the writer. */
    long seekAddress(long hash, long address) {
        return seek(hash, null, address);
    }

    private long seek(long hash, @Nullable RecordMatcher matcher, long address) {
        long[] directory = directories[segmentOf(hash)];
        long tag = tagOf(hash);
        int slotCount = (int) directory[0];
        int index = homeOfTag(tag, slotCount);
        reusableIndex = -1;
        for (int probes = 0; probes < slotCount; ) {
            // The slots of one page are adjacent in memory.
            int pageEnd = Math.min(slotCount, (index | Slab.PAGE_UNITS - 1) + 1);
            probes += pageEnd - index;
            MemorySegment chunk = slab.chunk(address(directory, index));
            long offset = Slab.offset(address(directory, index));
            for (; index < pageEnd; index++, offset += Slab.UNIT_BYTES) {
                long slot = Slab.getLong(chunk, offset);
                if (slot >>> ADDRESS_BITS == tag && (slot & ADDRESS_MASK) != 0) {
                    long recordAddress = slot & ADDRESS_MASK;
                    if (matcher == null ? recordAddress == address : matches(matcher, recordAddress)) {
                        foundIndex = index;
                        return recordAddress;
                    }
                } else if ((slot & ADDRESS_MASK) == 0) {
                    reusableIndex = reusableIndex < 0 ? index : reusableIndex;
                    if (slot == 0) {
                        return 0;
                    }
                }
            }
            index = index == slotCount ? 0 : index;
        }
        return 0;
    }

    private boolean matches(RecordMatcher matcher, long address) {
        lastReadRecord = slab.read(address);
        return lastReadRecord != null && matcher.matches(lastReadRecord);
    }

    /** Returns the record that {@link #seek} found. The last search with a matcher must have found one. */
    byte[] foundRecord() {
        byte[] record = lastReadRecord;
        if (record == null) {
            throw new IllegalStateException("no search has read a record");
        }
        return record;
    }

    /** Points the last found entry to another record. The caller may then free the previous record. */
    void replace(long hash, long address) {
        slab.putLongRelease(address(directories[segmentOf(hash)], foundIndex), tagOf(hash) << ADDRESS_BITS | address);
        incrementStamp(segmentOf(hash));
    }

    /** Adds an entry that does not exist yet. */
    void insert(long hash, long address) {
        seek(hash, null, address);
        insertAfterSeek(hash, address);
    }

    /** Adds an entry after a search that did not find it. */
    void insertAfterSeek(long hash, long address) {
        int segment = segmentOf(hash);
        if (usedCounts[segment] + 1 > maxUsed((int) directories[segment][0])) {
            rebuild(segment);
            seek(hash, null, address);
        }
        long slotAddress = address(directories[segment], reusableIndex);
        usedCounts[segment] += slab.getLong(slotAddress) == 0 ? 1 : 0;
        slab.putLongRelease(slotAddress, tagOf(hash) << ADDRESS_BITS | address);
        entryCounts[segment]++;
        addEntries(1);
    }

    /** Removes the last found entry. The caller may then free its record. */
    void remove(long hash) {
        int segment = segmentOf(hash);
        long[] directory = directories[segment];
        int slotCount = (int) directory[0];
        int index = foundIndex;
        if (slab.getLong(address(directory, index + 1 == slotCount ? 0 : index + 1)) == 0) {
            // The next slot is free, so searches may end at this slot and at the removed slots before it.
            slab.putLongRelease(address(directory, index), 0);
            usedCounts[segment]--;
            for (index = previous(index, slotCount);
                    slab.getLong(address(directory, index)) == REMOVED;
                    index = previous(index, slotCount)) {
                slab.putLongRelease(address(directory, index), 0);
                usedCounts[segment]--;
            }
        } else {
            slab.putLongRelease(address(directory, index), REMOVED);
        }
        entryCounts[segment]--;
        addEntries(-1);
        incrementStamp(segment);
        // While growth is expected, the free slots are needed later.
        if (expectedGrowth == 0 && slotCount > Slab.PAGE_UNITS && entryCounts[segment] < slotCount / 4) {
            rebuild(segment);
        }
    }

    /**
     * Sets the slots of a segment of an empty index that has no readers yet. Several threads may call it for different
     * segments.
     */
    void install(int segment, SegmentBuilder builder) {
        directories[segment] = builder.copyToPages();
        entryCounts[segment] = builder.entryCount();
        usedCounts[segment] = builder.entryCount();
    }

    /** Counts the installed entries and publishes them to readers. */
    void publishInstalled() {
        for (int segment = 0; segment < SEGMENTS; segment++) {
            addEntries(entryCounts[segment]);
            addSlots((int) directories[segment][0]);
            DIRECTORIES.setRelease(directories, segment, directories[segment]);
        }
    }

    /** Replaces the slots of a segment by a suitable number of slots without removed entries. */
    private void rebuild(int segment) {
        long[] oldDirectory = directories[segment];
        rebuiltSlots.begin(slotsFor(entryCounts[segment] + 1));
        for (int page = 1; page < oldDirectory.length; page++) {
            slab.readPage(oldDirectory[page], pageBuffer);
            for (long slot : pageBuffer) {
                if ((slot & ADDRESS_MASK) != 0) {
                    rebuiltSlots.add(slot, null);
                }
            }
        }
        long[] directory = rebuiltSlots.copyToPages();
        usedCounts[segment] = entryCounts[segment];
        addSlots((int) (directory[0] - oldDirectory[0]));
        DIRECTORIES.setRelease(directories, segment, directory);
        LONGS.setRelease(rebuildCounts, segment, rebuildCounts[segment] + 1);
        incrementStamp(segment);
        for (int page = 1; page < oldDirectory.length; page++) {
            slab.freePage(oldDirectory[page]);
        }
    }

    private static long address(long[] directory, int index) {
        return directory[1 + (index >>> Slab.PAGE_BITS)] + (index & Slab.PAGE_UNITS - 1);
    }

    /** Increments the stamp of a segment. Afterwards the caller may destroy the old state. */
    private void incrementStamp(int segment) {
        LONGS.setRelease(stamps, segment, stamps[segment] + 1);
        VarHandle.fullFence();
    }

    /** Needs no lock, because only one thread writes. */
    private void addEntries(int count) {
        entryTotal.setRelease(entryTotal.getPlain() + count);
    }

    private void addSlots(int count) {
        slotTotal.setRelease(slotTotal.getPlain() + count);
    }

    private static int previous(int index, int slotCount) {
        return index == 0 ? slotCount - 1 : index - 1;
    }

    private static int homeOfTag(long tag, int slotCount) {
        return (int) (tag * slotCount >>> TAG_BITS);
    }

    /** A quarter of the slots stays free, because otherwise unsuccessful searches would take long. */
    private static int maxUsed(int slotCount) {
        return (int) (slotCount * 3L / 4);
    }

    /**
     * Returns the number of slots for a rebuilt segment: twice its entries. While the topic is restored, returns the
     * number of slots that the segment needs in the end if its entries are multiplied by {@link #expectedGrowth}.
     */
    private int slotsFor(int entries) {
        return (int)
                (expectedGrowth > 1
                        ? entries * Math.clamp(expectedGrowth, MIN_GROWTH, MAX_GROWTH) * 4 / 3
                        : 2.0 * entries);
    }

    /** Sets the expected final number of entries divided by the current number; 0 if unknown. */
    void setExpectedGrowth(double growth) {
        expectedGrowth = growth;
    }
}
