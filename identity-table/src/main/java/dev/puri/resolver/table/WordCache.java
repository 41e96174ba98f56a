package dev.puri.resolver.table;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.ToIntFunction;

/**
 * A cache of the numbers of words by their bytes, so that a recent word is not decoded. Words of 4 to 16 bytes, as
 * nearly all are, are compared by their length and two longs or ints that overlap.
 */
final class WordCache {
    private static final int SIZE = 256;
    private static final int SHORTEST = 4;
    private static final int LONGEST = 16;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private static final byte[] NONE = {};

    private final ToIntFunction<String> numberOf;
    private final int[] lengths = new int[SIZE];
    private final long[] begins = new long[SIZE];
    private final long[] ends = new long[SIZE];
    private final int[] numbers = new int[SIZE];

    /** Shorter and longer words, and their numbers. */
    private final byte[][] others = new byte[SIZE][];

    private final int[] otherNumbers = new int[SIZE];

    /**
     * @param numberOf returns the number of a word; throws an {@link IllegalArgumentException} if it is invalid
     */
    WordCache(ToIntFunction<String> numberOf) {
        this.numberOf = numberOf;
        Arrays.fill(others, NONE);
    }

    /** Removes all words. */
    void clear() {
        Arrays.fill(lengths, 0);
        Arrays.fill(others, NONE);
    }

    int number(byte[] text, int from, int to) {
        int length = to - from;
        if (length < SHORTEST || length > LONGEST) {
            return other(text, from, to);
        }
        long begin;
        long end;
        if (length < Long.BYTES) {
            begin = (int) INTS.get(text, from);
            end = (int) INTS.get(text, to - Integer.BYTES);
        } else {
            begin = (long) LONGS.get(text, from);
            end = (long) LONGS.get(text, to - Long.BYTES);
        }
        // Similar words differ at their ends.
        int at = (int) ((begin * 31 + end) * 0x9E3779B97F4A7C15L >>> 56);
        if (lengths[at] != length || begins[at] != begin || ends[at] != end) {
            numbers[at] = numberOf(text, from, to);
            lengths[at] = length;
            begins[at] = begin;
            ends[at] = end;
        }
        return numbers[at];
    }

    private int other(byte[] text, int from, int to) {
        int length = to - from;
        int at = length == 0 ? 0 : 31 * text[to - 1] + 7 * text[to - 1 - length / 4] + length & SIZE - 1;
        byte[] word = others[at];
        if (word.length == 0 || !Arrays.equals(word, 0, word.length, text, from, to)) {
            otherNumbers[at] = numberOf(text, from, to);
            others[at] = Arrays.copyOfRange(text, from, to);
        }
        return otherNumbers[at];
    }

    private int numberOf(byte[] text, int from, int to) {
        return numberOf.applyAsInt(new String(text, from, to - from, StandardCharsets.UTF_8));
    }
}
