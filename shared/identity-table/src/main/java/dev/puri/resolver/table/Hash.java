package dev.puri.resolver.table;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A seeded 64-bit hash function, which multiplies and folds like wyhash. Each table and each ring of changes has a
 * random seed, so that nobody can choose pURIs and handles whose hashes collide.
 */
public final class Hash {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long A = 0xa0761d6478bd642fL;
    private static final long B = 0xe7037ed1a0b428dbL;
    private static final long C = 0x8ebc6af09c88c6e3L;

    private Hash() {}

    /** Returns the hash of a text. */
    public static long of(byte[] text, long seed) {
        return of(text, 0, text.length, seed);
    }

    /** Returns the hash of text[from..to). */
    static long of(byte[] text, int from, int to, long seed) {
        int length = to - from;
        // Both factors of each product depend on the seed, so no known text makes a product zero.
        long hash = Long.rotateLeft(seed, 29) ^ length;
        int i = from;
        for (; i + 2 * Long.BYTES < to; i += 2 * Long.BYTES) {
            hash = fold((long) LONGS.get(text, i) ^ seed, (long) LONGS.get(text, i + Long.BYTES) ^ hash);
        }
        long previous = 0;
        long last = 0;
        if (length >= Long.BYTES) {
            // These numbers may overlap others, which is faster than a loop over the rest.
            previous = (long) LONGS.get(text, Math.max(from, to - 2 * Long.BYTES));
            last = (long) LONGS.get(text, to - Long.BYTES);
        } else {
            for (; i < to; i++) {
                last = last << Byte.SIZE | text[i] & 0xFF;
            }
        }
        return fold(fold(previous ^ seed, last ^ hash) ^ A, B);
    }

    /** Returns the hash of a number of 96 bits. */
    static long of(long high, int low, long seed) {
        return fold(fold(high ^ seed ^ A, B) ^ low, C ^ seed);
    }

    private static long fold(long a, long b) {
        return a * b ^ Math.unsignedMultiplyHigh(a, b);
    }
}
