package dev.puri.resolver.table;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A seeded hash of 64 bits, by multiplying and folding as wyhash does. Each table and each
 * ring has its own seed, so that nobody can choose names that collide.
 */
public final class Hash {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long A = 0xa0761d6478bd642fL;
    private static final long B = 0xe7037ed1a0b428dbL;
    private static final long C = 0x8ebc6af09c88c6e3L;

    private Hash() {}

    /** Hashes a whole text. */
    public static long of(byte[] text, long seed) {
        return of(text, 0, text.length, seed);
    }

    /** Hashes text[from..to). */
    static long of(byte[] text, int from, int to, long seed) {
        int length = to - from;
        long hash = seed ^ A;
        int i = from;
        for (; i + 8 <= to; i += 8) {
            hash = fold(hash ^ (long) LONGS.get(text, i), B);
        }
        long rest = 0;
        for (; i < to; i++) {
            rest = rest << 8 | text[i] & 0xFF;
        }
        return fold(fold(hash ^ rest, C ^ seed) ^ length, B);
    }

    static long of(long high, int low, long seed) {
        return fold(fold(high ^ seed ^ A, B) ^ low, C ^ seed);
    }

    private static long fold(long a, long b) {
        return a * b ^ Math.unsignedMultiplyHigh(a, b);
    }
}
