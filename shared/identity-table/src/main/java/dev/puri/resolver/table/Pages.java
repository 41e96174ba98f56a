package dev.puri.resolver.table;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * Allocates off-heap memory. On Linux it calls mmap(2), so that the kernel clears each page at the first write, which
 * loads the page into the cache anyway. Java would clear all memory at the allocation, which took a third of the time
 * of a restore. It also calls madvise(2) to request pages of 2 MiB, which cause fewer TLB misses.
 */
final class Pages {
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
    private static final int MADV_HUGEPAGE = 14;
    private static final @Nullable NativeCalls CALLS = lookUpCalls();

    private Pages() {}

    private record NativeCalls(MethodHandle mmap, MethodHandle madvise, MethodHandle munmap) {}

    /** Returns null if the system is not Linux, or if the JVM may not make native calls. */
    private static @Nullable NativeCalls lookUpCalls() {
        if (!System.getProperty("os.name").equals("Linux")
                || !Pages.class.getModule().isNativeAccessEnabled()) {
            return null;
        }
        Linker linker = Linker.nativeLinker();
        SymbolLookup libc = linker.defaultLookup();
        return new NativeCalls(
                linker.downcallHandle(
                        libc.findOrThrow("mmap"),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_LONG)),
                linker.downcallHandle(
                        libc.findOrThrow("madvise"),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_INT)),
                linker.downcallHandle(
                        libc.findOrThrow("munmap"),
                        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG)));
    }

    /**
     * Allocates memory that is filled with zeros and valid until the arena is closed.
     *
     * @throws OutOfMemoryError if there is not enough memory
     * @throws IllegalStateException if the arena is closed
     */
    static MemorySegment allocate(Arena arena, long bytes) {
        NativeCalls calls = CALLS;
        return calls == null ? arena.allocate(bytes, 64) : map(calls, arena, bytes);
    }

    private static MemorySegment map(NativeCalls calls, Arena arena, long bytes) {
        long address;
        try {
            address = (long) calls.mmap.invokeExact(0L, bytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0L);
            if (address != -1) {
                // A kernel without large pages returns an error; then small pages are used.
                int error = (int) calls.madvise.invokeExact(address, bytes, MADV_HUGEPAGE);
            }
        } catch (Throwable e) {
            throw new IllegalStateException("mmap failed", e);
        }
        if (address == -1) {
            throw new OutOfMemoryError("cannot allocate " + bytes + " bytes outside the heap");
        }
        try {
            return MemorySegment.ofAddress(address)
                    .reinterpret(bytes, arena, memory -> unmap(calls, memory.address(), bytes));
        } catch (RuntimeException e) {
            // The arena was closed meanwhile.
            unmap(calls, address, bytes);
            throw e;
        }
    }

    private static void unmap(NativeCalls calls, long address, long bytes) {
        try {
            int status = (int) calls.munmap.invokeExact(address, bytes);
        } catch (Throwable e) {
            throw new IllegalStateException("munmap failed", e);
        }
    }
}
