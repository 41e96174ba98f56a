package dev.puri.resolver.table;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.ToIntFunction;

/**
 * A cache from the bytes of a word to its code in a {@link Dictionary}, so that the text of a recent word need not be
 * decoded. Nearly all words have 4 to 16 bytes. A word of 4 to 7 bytes is compared as its length and two ints, a word
 * of 8 to 16 bytes as its length and two longs: its first and its last bytes, which may overlap.
 */
final class WordCache {
    private static final int SIZE = 256;
    private static final int MIN_LENGTH = 4;
    private static final int MAX_LENGTH = 16;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private static final byte[] NONE = {};

    private final ToIntFunction<String> dictionary;
    private final int[] lengths = new int[SIZE];
    private final long[] firstBytesOf = new long[SIZE];
    private final long[] lastBytesOf = new long[SIZE];
    private final int[] codes = new int[SIZE];

    /** Words that are shorter than 4 bytes or longer than 16 bytes, and their codes. */
    private final byte[][] otherWords = new byte[SIZE][];

    private final int[] otherCodes = new int[SIZE];

    /**
     * @param dictionary returns the code of a word; throws an {@link IllegalArgumentException} if it is invalid
     */
    WordCache(ToIntFunction<String> dictionary) {
        this.dictionary = dictionary;
        Arrays.fill(otherWords, NONE);
    }

    /** Removes all words. */
    void clear() {
        Arrays.fill(lengths, 0);
        Arrays.fill(otherWords, NONE);
    }

    /** Returns the code of the word text[from..to). */
    int code(byte[] text, int from, int to) {
        int length = to - from;
        if (length < MIN_LENGTH || length > MAX_LENGTH) {
            return codeOfOther(text, from, to);
        }
        long firstBytes;
        long lastBytes;
        if (length < Long.BYTES) {
            firstBytes = (int) INTS.get(text, from);
            lastBytes = (int) INTS.get(text, to - Integer.BYTES);
        } else {
            firstBytes = (long) LONGS.get(text, from);
            lastBytes = (long) LONGS.get(text, to - Long.BYTES);
        }
        // The words of a table often differ only in their last characters, so the end is hashed too.
        int index = (int) ((firstBytes * 31 + lastBytes) * 0x9E3779B97F4A7C15L >>> 56);
        if (lengths[index] != length || firstBytesOf[index] != firstBytes || lastBytesOf[index] != lastBytes) {
            codes[index] = codeOf(text, from, to);
            lengths[index] = length;
            firstBytesOf[index] = firstBytes;
            lastBytesOf[index] = lastBytes;
        }
        return codes[index];
    }

    private int codeOfOther(byte[] text, int from, int to) {
        int length = to - from;
        int index = length == 0 ? 0 : 31 * text[to - 1] + 7 * text[to - 1 - length / 4] + length & SIZE - 1;
        byte[] word = otherWords[index];
        if (word.length == 0 || !Arrays.equals(word, 0, word.length, text, from, to)) {
            otherCodes[index] = codeOf(text, from, to);
            otherWords[index] = Arrays.copyOfRange(text, from, to);
        }
        return otherCodes[index];
    }

    private int codeOf(byte[] text, int from, int to) {
        return dictionary.applyAsInt(new String(text, from, to - from, StandardCharsets.UTF_8));
    }
}
