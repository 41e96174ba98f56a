package dev.puri.resolver.table;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * What few words many rows share, each written once and known by a small number. Only grows. One
 * thread adds; any thread may ask for the word of a number that it found in a record, because the word
 * was there before the record was.
 */
final class Dictionary<T> {
    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);

    private final Function<String, T> make;
    private final Map<String, Integer> numbers = new HashMap<>();
    private volatile Object[] words = new Object[16];
    private volatile String[] texts = new String[16];

    /** Rows that use each word now. */
    private volatile long[] counts = new long[16];

    private volatile int size;

    Dictionary(Function<String, T> make) {
        this.make = make;
    }

    int intern(String text) {
        Integer known = numbers.get(text);
        return known == null ? add(text) : known;
    }

    private int add(String text) {
        int number = size;
        if (number == words.length) {
            words = Arrays.copyOf(words, 2 * number);
            texts = Arrays.copyOf(texts, 2 * number);
        }
        words[number] = make.apply(text);
        texts[number] = text;
        numbers.put(text, number);
        size = number + 1;
        return number;
    }

    @SuppressWarnings("unchecked") // only T's are put in
    T word(int number) {
        return (T) words[number];
    }

    /** Counts rows that use a word, by one thread, which may be another than the one that adds. */
    void count(int number, long more) {
        long[] all = counts;
        if (number >= all.length) {
            all = Arrays.copyOf(all, Math.max(number + 1, 2 * all.length));
            counts = all;
        }
        COUNT.setOpaque(all, number, all[number] + more);
    }

    /** Rows by word, sorted; those without any left out. */
    Map<String, Long> counts() {
        Map<String, Long> rows = new TreeMap<>();
        long[] all = counts;
        int known = Math.min(size, all.length);
        for (int number = 0; number < known; number++) {
            long count = (long) COUNT.getOpaque(all, number);
            if (count != 0) {
                rows.put(texts[number], count);
            }
        }
        return rows;
    }

    /** All words as of now, by number. */
    List<String> texts() {
        int known = size;
        List<String> all = new ArrayList<>(known);
        for (int number = 0; number < known; number++) {
            all.add(texts[number]);
        }
        return all;
    }

    /** How many numbers are given out. */
    int size() {
        return size;
    }
}
