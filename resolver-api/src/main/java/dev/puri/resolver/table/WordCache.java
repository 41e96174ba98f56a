package dev.puri.resolver.table;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.ToIntFunction;

/** Words' numbers by the bytes that they are written with, so that a word that was seen lately makes no text. */
final class WordCache {
    private static final int SIZE = 256;

    private final ToIntFunction<String> numberOf;
    private final byte[][] words = new byte[SIZE][];
    private final int[] numbers = new int[SIZE];

    /**
     * @param numberOf of a word; throws an {@link IllegalArgumentException} when it is none
     */
    WordCache(ToIntFunction<String> numberOf) {
        this.numberOf = numberOf;
        Arrays.fill(words, new byte[0]);
    }

    int number(byte[] text, int from, int to) {
        // Words of one kind differ at their ends.
        int length = to - from;
        int slot = length == 0 ? 0 : 31 * text[to - 1] + 7 * text[to - 1 - length / 4] + length & SIZE - 1;
        byte[] word = words[slot];
        if (word.length == 0 || !Arrays.equals(word, 0, word.length, text, from, to)) {
            numbers[slot] = numberOf.applyAsInt(new String(text, from, to - from, StandardCharsets.UTF_8));
            words[slot] = Arrays.copyOfRange(text, from, to);
        }
        return numbers[slot];
    }
}
