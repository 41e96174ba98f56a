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
 * Memory outside the heap in chunks of 4 MiB, addressed in units of 8 bytes; 0 is nobody's address. It
 * grows by a chunk at a time and never copies. Freed records go to a list of their size, freed pages of
 * indexes to another, so both are used again as they are; chunks are given back all at once, by
 * {@link #close} or when nothing refers to the slab any more.
 *
 * <p>One thread allocates, writes and frees. Others read by addresses that they took from an index;
 * such an address may have been freed and reused under them, so what they read means nothing until
 * {@link Index} has confirmed it. Reading is therefore checked against the chunks' bounds and never
 * fails.
 */
final class Slab implements AutoCloseable {
    static final int UNIT = 8;
    static final int MAX_RECORD_UNITS = 255;

    /** Pages are of 2 KiB. */
    static final int PAGE_BITS = 8;

    static final int PAGE_UNITS = 1 << PAGE_BITS;
    private static final int CHUNK_BITS = 19;
    private static final int CHUNK_UNITS = 1 << CHUNK_BITS;
    private static final long WITHIN_CHUNK = CHUNK_UNITS - 1L;
    private static final Cleaner CLEANER = Cleaner.create();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final Arena arena = Arena.ofShared();
    private volatile MemorySegment[] chunks = {};

    /** Where the next allocation is cut from, and where that room ends. */
    private long next;

    private long end;

    /** Of each size of record, the first free one, which refers to the next. */
    private final long[] freeRecords = new long[MAX_RECORD_UNITS + 1];

    private long freeCount;

    /** The first free page, which refers to the next. */
    private long freePages;

    /** What was left of chunks, by its size. */
    private final TreeMap<Integer, ArrayDeque<Long>> freeRoom = new TreeMap<>();

    private final AtomicLong unitsInUse = new AtomicLong();

    private final Cleaner.Cleanable memory = CLEANER.register(this, arena::close);

    /** Gives all memory back. Whoever still reads or writes is failed by an exception, and nothing worse. */
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

    /** Room for a record; what stood there before may still stand there. */
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

    /** How many records that were freed wait to be used again. */
    long freeRecords() {
        return freeCount;
    }

    /** A page that begins as these; by any thread as long as none allocates or frees records. */
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

    /** Room of any size up to a chunk's, to be filled by the caller. */
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

    /** By any thread, as {@link #allocatePage}. */
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

    /** One thread writes, so nothing has to be locked. */
    private void inUse(int units) {
        unitsInUse.setRelease(unitsInUse.getPlain() + units);
    }

    /** The record at an address, or null when none can be there. */
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

    /** Fills allocated room; any thread may, each its own. */
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
