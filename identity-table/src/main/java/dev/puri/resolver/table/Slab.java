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
 * An allocator of off-heap memory. It grows by chunks of 4 MiB and never copies. Addresses count units of 8 bytes; 0 is
 * no address. Freed records are kept in a list for each size, freed index pages in another, and are reused as they are.
 * Chunks are freed all at once, by {@link #close} or when the slab is unreachable.
 *
 * <p>One thread allocates, writes and frees. Other threads read at addresses from an index. The memory there may have
 * been freed and reused meanwhile, so a reader must not use the bytes before {@link Index} has confirmed them. Reads
 * are checked against the bounds of the chunks, and never fail.
 */
final class Slab implements AutoCloseable {
    static final int UNIT = 8;
    static final int MAX_RECORD_UNITS = 255;

    /** Pages have 2 KiB. */
    static final int PAGE_BITS = 8;

    static final int PAGE_UNITS = 1 << PAGE_BITS;
    private static final int CHUNK_BITS = 19;
    private static final int CHUNK_UNITS = 1 << CHUNK_BITS;
    private static final long WITHIN_CHUNK = CHUNK_UNITS - 1L;
    private static final Cleaner CLEANER = Cleaner.create();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final Arena arena = Arena.ofShared();
    private volatile MemorySegment[] chunks = {};

    /** The bounds of the free room from which the next allocation is taken. */
    private long next;

    private long end;

    /** By size, the first free record, which refers to the next. */
    private final long[] freeRecords = new long[MAX_RECORD_UNITS + 1];

    private long freeCount;

    /** The first free page, which refers to the next. */
    private long freePages;

    /** Remainders of chunks, by size. */
    private final TreeMap<Integer, ArrayDeque<Long>> freeRoom = new TreeMap<>();

    private final AtomicLong unitsInUse = new AtomicLong();

    private final Cleaner.Cleanable memory = CLEANER.register(this, arena::close);

    /** Frees all memory. Later reads and writes throw an exception. */
    @Override
    public void close() {
        chunks = new MemorySegment[0];
        memory.clean();
    }

    long bytes() {
        return (long) chunks.length * CHUNK_UNITS * UNIT;
    }

    long bytesInUse() {
        return unitsInUse.getAcquire() * UNIT;
    }

    /** Allocates a record, which may contain old bytes. */
    long allocateRecord(int units) {
        inUse(units);
        long free = freeRecords[units];
        if (free == 0) {
            return cut(units);
        }
        freeRecords[units] = getLong(free);
        freeCount--;
        return free;
    }

    /** The number of freed records that are not reused yet. */
    long freeRecords() {
        return freeCount;
    }

    /** Allocates a page with this content. Any thread may call it while none allocates or frees records. */
    long allocatePage(long[] content, int from) {
        long address = takePage();
        MemorySegment.copy(content, from, chunk(address), ValueLayout.JAVA_LONG, offset(address), PAGE_UNITS);
        return address;
    }

    private synchronized long takePage() {
        inUse(PAGE_UNITS);
        long address = freePages;
        if (address == 0) {
            return cut(PAGE_UNITS);
        }
        freePages = getLong(address);
        return address;
    }

    void readPage(long address, long[] into) {
        MemorySegment.copy(chunk(address), ValueLayout.JAVA_LONG, offset(address), into, 0, PAGE_UNITS);
    }

    /** Allocates room of any size up to a chunk's, which the caller fills. */
    long allocateRoom(int units) {
        inUse(units);
        return cut(units);
    }

    void freeRecord(long address, int units) {
        inUse(-units);
        putLong(address, freeRecords[units]);
        freeRecords[units] = address;
        freeCount++;
    }

    /** Any thread may call it under the same condition as {@link #allocatePage}. */
    synchronized void freePage(long address) {
        inUse(-PAGE_UNITS);
        putLong(address, freePages);
        freePages = address;
    }

    private long cut(int units) {
        if (end - next < units) {
            keepRoom(next, (int) (end - next));
            Map.Entry<Integer, ArrayDeque<Long>> room = freeRoom.ceilingEntry(units);
            if (room == null) {
                addChunk();
            } else {
                next = room.getValue().pop();
                end = next + room.getKey();
                if (room.getValue().isEmpty()) {
                    freeRoom.remove(room.getKey());
                }
            }
        }
        long address = next;
        next += units;
        return address;
    }

    private void keepRoom(long address, int units) {
        if (units > 0) {
            freeRoom.computeIfAbsent(units, size -> new ArrayDeque<>()).push(address);
        }
    }

    private void addChunk() {
        MemorySegment[] before = chunks;
        MemorySegment[] after = java.util.Arrays.copyOf(before, before.length + 1);
        after[before.length] = Pages.allocate(arena, (long) CHUNK_UNITS * UNIT);
        chunks = after;
        next = (long) before.length << CHUNK_BITS;
        end = next + CHUNK_UNITS;
        if (next == 0) {
            next = 1;
        }
    }

    /** Only one thread writes, so this needs no lock. */
    private void inUse(int units) {
        unitsInUse.setRelease(unitsInUse.getPlain() + units);
    }

    /** Returns the record at an address, or null if there cannot be one. */
    byte @Nullable [] read(long address) {
        MemorySegment[] all = chunks;
        int number = (int) (address >>> CHUNK_BITS);
        if (number >= all.length) {
            return null;
        }
        long offset = offset(address);
        MemorySegment chunk = all[number];
        int length = (chunk.get(ValueLayout.JAVA_BYTE, offset) & 0xFF) * UNIT;
        if (length == 0 || offset + length > chunk.byteSize()) {
            return null;
        }
        byte[] record = new byte[length];
        MemorySegment.copy(chunk, ValueLayout.JAVA_BYTE, offset, record, 0, length);
        Reference.reachabilityFence(this);
        return record;
    }

    /** Fills allocated room. Any thread may call it for its own room. */
    void copy(byte[] bytes, int from, long address, int length) {
        MemorySegment.copy(bytes, from, chunk(address), ValueLayout.JAVA_BYTE, offset(address), length);
    }

    long getLongAcquire(long address) {
        MemorySegment[] all = chunks;
        int number = (int) (address >>> CHUNK_BITS);
        long value = number >= all.length ? 0 : (long) LONG.getAcquire(all[number], offset(address));
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

    MemorySegment chunk(long address) {
        return chunks[(int) (address >>> CHUNK_BITS)];
    }

    static long offset(long address) {
        return (address & WITHIN_CHUNK) * UNIT;
    }
}
