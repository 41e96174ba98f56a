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
 * Off-heap memory. On Linux it comes from mmap(2): the kernel clears each page at the first write, when it is in the
 * cache anyway. Java would clear all of it at allocation, which took a third of the time of writing a table. madvise(2)
 * requests pages of 2 MiB, which cause fewer TLB misses.
 */
final class Pages {
    private static final int READ_WRITE = 3;
    private static final int PRIVATE_ANONYMOUS = 0x22;
    private static final int IN_HUGE_PAGES = 14;
    private static final @Nullable Calls CALLS = calls();

    private Pages() {}

    private record Calls(MethodHandle mmap, MethodHandle madvise, MethodHandle munmap) {}

    /** Null if the system has no such calls, or the JVM may not make native calls. */
    private static @Nullable Calls calls() {
        if (!System.getProperty("os.name").equals("Linux")
                || !Pages.class.getModule().isNativeAccessEnabled()) {
            return null;
        }
        Linker linker = Linker.nativeLinker();
        SymbolLookup libc = linker.defaultLookup();
        return new Calls(
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
     * Allocates memory, which is zero and valid until the arena is closed.
     *
     * @throws OutOfMemoryError when there is not enough memory
     * @throws IllegalStateException when the arena is closed
     */
    static MemorySegment allocate(Arena arena, long bytes) {
        Calls calls = CALLS;
        return calls == null ? arena.allocate(bytes, 64) : map(calls, arena, bytes);
    }

    private static MemorySegment map(Calls calls, Arena arena, long bytes) {
        long address;
        try {
            address = (long) calls.mmap.invokeExact(0L, bytes, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0L);
            if (address != -1) {
                // A kernel without large pages refuses, which leaves small pages.
                int refused = (int) calls.madvise.invokeExact(address, bytes, IN_HUGE_PAGES);
            }
        } catch (Throwable e) {
            throw new IllegalStateException("mmap", e);
        }
        if (address == -1) {
            throw new OutOfMemoryError("no " + bytes + " bytes outside the heap");
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

    private static void unmap(Calls calls, long address, long bytes) {
        try {
            int status = (int) calls.munmap.invokeExact(address, bytes);
        } catch (Throwable e) {
            throw new IllegalStateException("munmap", e);
        }
    }
}
