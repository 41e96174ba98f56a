package dev.puri.resolver.table;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * An allocator of off-heap memory for packed records and for pages of index slots. It grows by chunks of 4 MiB and
 * never moves data. An address is a number of units of 8 bytes; the address 0 is invalid. The slab has a free list for
 * each size of records, and a free list for pages. It frees all chunks at once, on {@link #close} or when it becomes
 * unreachable.
 *
 * <p>The first byte of a record is its length in units. One thread allocates, writes and frees records. Several threads
 * may allocate, fill and free pages while no thread allocates or frees records.
 *
 * <p>Other threads read at addresses from an {@link Index}. The memory at such an address may have been freed and
 * reused meanwhile, so a reader must not use the bytes before the index has compared the stamp of its segment, which is
 * a version. {@link #read} and {@link #getLongAcquire} check the bounds of the chunks, so they do not fail at an
 * outdated address.
 */
final class Slab implements AutoCloseable {
    /** The number of bytes of a unit. */
    static final int UNIT_BYTES = 8;

    /** The length of a record fits into its first byte, which is unsigned. */
    static final int MAX_RECORD_UNITS = 255;

    /** A page has 256 units, which are 2 KiB. */
    static final int PAGE_BITS = 8;

    static final int PAGE_UNITS = 1 << PAGE_BITS;

    /** A chunk has 2^19 units, which are 4 MiB. */
    private static final int CHUNK_BITS = 19;

    private static final int CHUNK_UNITS = 1 << CHUNK_BITS;
    private static final long CHUNK_MASK = CHUNK_UNITS - 1L;
    private static final Cleaner CLEANER = Cleaner.create();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final Arena arena = Arena.ofShared();
    private volatile MemorySegment[] chunks = {};

    /** The start and the end of the free space from which the next allocation is taken. */
    private long freeStart;

    private long freeEnd;

    /**
     * By size in units: the address of the first free record. Its first unit is the address of the next free record.
     */
    private final long[] firstFreeRecords = new long[MAX_RECORD_UNITS + 1];

    private long freeRecordCount;

    /** The address of the first free page. Its first unit is the address of the next free page. */
    private long firstFreePage;

    /** The unused remainders of chunks, by size in units. */
    private final TreeMap<Integer, ArrayDeque<Long>> freeSpaces = new TreeMap<>();

    private final AtomicLong unitsInUse = new AtomicLong();

    private final Cleaner.Cleanable cleanable = CLEANER.register(this, arena::close);

    /**
     * Frees all memory. Later calls of {@link #read} and {@link #getLongAcquire} find nothing. All other accesses, and
     * accesses during this call, may throw an exception.
     */
    @Override
    public void close() {
        chunks = new MemorySegment[0];
        cleanable.clean();
    }

    /** Returns the size of all chunks in bytes. */
    long allocatedBytes() {
        return (long) chunks.length * CHUNK_UNITS * UNIT_BYTES;
    }

    long bytesInUse() {
        return unitsInUse.getAcquire() * UNIT_BYTES;
    }

    /** Allocates space for a record. The space may contain old bytes. */
    long allocateRecord(int units) {
        addUnitsInUse(units);
        long freeAddress = firstFreeRecords[units];
        if (freeAddress == 0) {
            return cutFromFreeSpace(units);
        }
        firstFreeRecords[units] = getLong(freeAddress);
        freeRecordCount--;
        return freeAddress;
    }

    /** Returns the number of records in the free lists. */
    long freeRecordCount() {
        return freeRecordCount;
    }

    /**
     * Allocates a page and copies the content into it. Several threads may call it while no thread allocates or frees
     * records.
     */
    long allocatePage(long[] content, int from) {
        long address = allocatePageAddress();
        MemorySegment.copy(content, from, chunk(address), ValueLayout.JAVA_LONG, offset(address), PAGE_UNITS);
        return address;
    }

    private synchronized long allocatePageAddress() {
        addUnitsInUse(PAGE_UNITS);
        long address = firstFreePage;
        if (address == 0) {
            return cutFromFreeSpace(PAGE_UNITS);
        }
        firstFreePage = getLong(address);
        return address;
    }

    void readPage(long address, long[] target) {
        MemorySegment.copy(chunk(address), ValueLayout.JAVA_LONG, offset(address), target, 0, PAGE_UNITS);
    }

    /** Allocates space for several records: less than a chunk, because the first chunk has no unit at address 0. */
    long allocateSpace(int units) {
        addUnitsInUse(units);
        return cutFromFreeSpace(units);
    }

    void freeRecord(long address, int units) {
        addUnitsInUse(-units);
        putLong(address, firstFreeRecords[units]);
        firstFreeRecords[units] = address;
        freeRecordCount++;
    }

    /** Frees a page. Several threads may call it while no thread allocates or frees records. */
    synchronized void freePage(long address) {
        addUnitsInUse(-PAGE_UNITS);
        putLong(address, firstFreePage);
        firstFreePage = address;
    }

    private long cutFromFreeSpace(int units) {
        if (freeEnd - freeStart < units) {
            keepFreeSpace(freeStart, (int) (freeEnd - freeStart));
            Map.Entry<Integer, ArrayDeque<Long>> space = freeSpaces.ceilingEntry(units);
            if (space == null) {
                addChunk();
            } else {
                freeStart = space.getValue().pop();
                freeEnd = freeStart + space.getKey();
                if (space.getValue().isEmpty()) {
                    freeSpaces.remove(space.getKey());
                }
            }
        }
        long address = freeStart;
        freeStart += units;
        return address;
    }

    private void keepFreeSpace(long address, int units) {
        if (units > 0) {
            freeSpaces.computeIfAbsent(units, size -> new ArrayDeque<>()).push(address);
        }
    }

    private void addChunk() {
        MemorySegment[] oldChunks = chunks;
        MemorySegment[] newChunks = java.util.Arrays.copyOf(oldChunks, oldChunks.length + 1);
        newChunks[oldChunks.length] = Pages.allocate(arena, (long) CHUNK_UNITS * UNIT_BYTES);
        chunks = newChunks;
        freeStart = (long) oldChunks.length << CHUNK_BITS;
        freeEnd = freeStart + CHUNK_UNITS;
        if (freeStart == 0) {
            freeStart = 1;
        }
    }

    /** Needs no lock: only one thread calls it, or the callers hold the lock of the slab. */
    private void addUnitsInUse(int units) {
        unitsInUse.setRelease(unitsInUse.getPlain() + units);
    }

    /**
     * Returns a copy of the record at an address. Returns null if there is no record: the address is beyond the chunks,
     * or its first byte cannot be the length of a record at this address.
     */
    byte @Nullable [] read(long address) {
        MemorySegment[] current = chunks;
        int chunkIndex = (int) (address >>> CHUNK_BITS);
        if (chunkIndex >= current.length) {
            return null;
        }
        long offset = offset(address);
        MemorySegment chunk = current[chunkIndex];
        int length = (chunk.get(ValueLayout.JAVA_BYTE, offset) & 0xFF) * UNIT_BYTES;
        if (length == 0 || offset + length > chunk.byteSize()) {
            return null;
        }
        byte[] record = new byte[length];
        MemorySegment.copy(chunk, ValueLayout.JAVA_BYTE, offset, record, 0, length);
        Reference.reachabilityFence(this);
        return record;
    }

    /** Copies bytes into allocated space. Several threads may call it for different spaces. */
    void copy(byte[] bytes, int from, long address, int length) {
        MemorySegment.copy(bytes, from, chunk(address), ValueLayout.JAVA_BYTE, offset(address), length);
    }

    long getLongAcquire(long address) {
        MemorySegment[] current = chunks;
        int chunkIndex = (int) (address >>> CHUNK_BITS);
        long value = chunkIndex >= current.length ? 0 : (long) LONG.getAcquire(current[chunkIndex], offset(address));
        Reference.reachabilityFence(this);
        return value;
    }

    void putLongRelease(long address, long value) {
        LONG.setRelease(chunk(address), offset(address), value);
    }

    long getLong(long address) {
        return (long) LONG.get(chunk(address), offset(address));
    }

    void putLong(long address, long value) {
        LONG.set(chunk(address), offset(address), value);
    }

    static long getLong(MemorySegment chunk, long offset) {
        return (long) LONG.get(chunk, offset);
    }

    /** Returns the chunk that contains an address. */
    MemorySegment chunk(long address) {
        return chunks[(int) (address >>> CHUNK_BITS)];
    }

    /** Returns the offset of an address in its chunk, in bytes. */
    static long offset(long address) {
        return (address & CHUNK_MASK) * UNIT_BYTES;
    }
}
