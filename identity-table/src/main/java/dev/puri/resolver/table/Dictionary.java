package dev.puri.resolver.table;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Words that many rows share, each kept once and known by a small number. A word that no record refers to any more is
 * forgotten, and its number is given to another. Three kinds of threads use it:
 *
 * <pre>
 * filler   interns words and packs their numbers into batches; forgets words
 * writer   counts the records that refer to a word; says which words none refers to
 * readers  look up the word of a number that they found in a record
 * </pre>
 *
 * <p>The writer cannot forget a word itself: a batch on its way to it may refer to the word again. So it queues the word with
 * the number of the last batch that it has written, and the filler forgets it unless it has used it in a later one.
 *
 * <p>A reader may hold a copy of a record that is gone, and the number in it may already be another word's. {@link Index} finds
 * that out by its stamps, for a word is forgotten only after the records that referred to it were destroyed.
 */
final class Dictionary<T> {
    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(Object[].class);
    private static final VarHandle TEXT = MethodHandles.arrayElementVarHandle(String[].class);
    private static final int FIRST_CAPACITY = 16;

    private final Function<String, T> make;
    private volatile Object[] words = new Object[FIRST_CAPACITY];
    private volatile String[] texts = new String[FIRST_CAPACITY];

    /** Of the filler: numbers by text, and by the bytes of words that were seen lately. */
    private final Map<String, Integer> numbers = new HashMap<>();

    private final WordCache cache = new WordCache(this::intern);
    private boolean isCacheStale;

    /** Of the filler: numbers that have a word, and one below which all have. */
    private final BitSet taken = new BitSet();

    private int lowestFree;

    /** Of the filler: the batch that it fills, and the last one that each word was used in. */
    private long batch;

    private long[] lastUsed = new long[FIRST_CAPACITY];

    /** Of the writer: rows that stand under each word now. */
    private volatile long[] counts = new long[FIRST_CAPACITY];

    /** Of the writer: rows that refer to a word without being counted under it. */
    private long[] otherReferences = new long[FIRST_CAPACITY];

    /** Of the writer: words that have lost their last row or reference and may have got another since. */
    private int[] emptied = new int[FIRST_CAPACITY];

    private int emptiedCount;

    /**
     * From the filler to the writer: new words with the batch that they came with. The record that brought one may turn out
     * unreadable, and then nothing else would say that no record refers to it.
     */
    private final Queue<Unused> added = new ConcurrentLinkedQueue<>();

    /** A word that no record referred to when a batch had been written. */
    record Unused(Dictionary<?> dictionary, int number, long batch) {
        /** By the filler. */
        void forget() {
            dictionary.forget(this);
        }
    }

    /**
     * @param make makes a word of its text; throws an {@link IllegalArgumentException} when it is none
     */
    Dictionary(Function<String, T> make) {
        this.make = make;
    }

    /** By the filler: words are used in this batch from now on. */
    void begin(long batch) {
        this.batch = batch;
    }

    /** The number of a word, by the filler. */
    int intern(String text) {
        Integer known = numbers.get(text);
        int number = known == null ? add(text) : known;
        use(number);
        return number;
    }

    /** The number of the word that text[from..to) is, by the filler. */
    int intern(byte[] text, int from, int to) {
        if (isCacheStale) {
            cache.clear();
            isCacheStale = false;
        }
        int number = cache.number(text, from, to);
        use(number);
        return number;
    }

    /** Says that a record of the batch at work refers to a word, by the filler. */
    void use(int number) {
        lastUsed[number] = batch;
    }

    private int add(String text) {
        T word = make.apply(text);
        int number = taken.nextClearBit(lowestFree);
        put(number, text, word);
        lowestFree = number + 1;
        added.add(new Unused(this, number, batch));
        return number;
    }

    private void put(int number, String text, T word) {
        if (number >= words.length) {
            int capacity = Math.max(number + 1, 2 * words.length);
            words = Arrays.copyOf(words, capacity);
            texts = Arrays.copyOf(texts, capacity);
            lastUsed = Arrays.copyOf(lastUsed, capacity);
        }
        words[number] = word;
        TEXT.setRelease(texts, number, text);
        numbers.put(text, number);
        taken.set(number);
    }

    /** Takes over words by their numbers, before there is any other; those without a text have none. */
    void load(List<String> byNumber) {
        for (int number = 0; number < byNumber.size(); number++) {
            String text = byNumber.get(number);
            if (!text.isEmpty()) {
                put(number, text, make.apply(text));
            }
        }
    }

    private void forget(Unused unused) {
        int number = unused.number;
        if (!taken.get(number) || lastUsed[number] > unused.batch) {
            return;
        }
        // No reader may see this, and not that the records were destroyed.
        VarHandle.releaseFence();
        numbers.remove(texts[number]);
        TEXT.setRelease(texts, number, null);
        WORD.setRelease(words, number, null);
        taken.clear(number);
        lowestFree = Math.min(lowestFree, number);
        isCacheStale = true;
    }

    /** The word of a number that a record has which is known to be there. */
    @SuppressWarnings("unchecked") // only T's are put in
    T word(int number) {
        return (T) words[number];
    }

    /** The word of a number; null when it has none, as that of a record that is gone. */
    @SuppressWarnings("unchecked") // only T's are put in
    @Nullable
    T wordIfAny(int number) {
        return (T) words[number];
    }

    /** Counts rows that stand under a word, by the writer. */
    void count(int number, long more) {
        long[] all = counts;
        if (number >= all.length) {
            all = Arrays.copyOf(all, Math.max(number + 1, 2 * all.length));
            counts = all;
        }
        long now = all[number] + more;
        COUNT.setOpaque(all, number, now);
        if (now == 0) {
            noteEmptied(number);
        }
    }

    /** Counts rows that refer to a word without standing under it, by the writer. */
    void countOther(int number, long more) {
        if (number >= otherReferences.length) {
            otherReferences = Arrays.copyOf(otherReferences, Math.max(number + 1, 2 * otherReferences.length));
        }
        otherReferences[number] += more;
        if (otherReferences[number] == 0) {
            noteEmptied(number);
        }
    }

    private void noteEmptied(int number) {
        if (emptiedCount == emptied.length) {
            emptied = Arrays.copyOf(emptied, 2 * emptiedCount);
        }
        emptied[emptiedCount++] = number;
    }

    /** Queues the words that no record refers to when this batch has been written, by the writer. */
    void queueUnused(long batch, Queue<Unused> unused) {
        for (Unused next = added.peek(); next != null && next.batch <= batch; next = added.peek()) {
            added.remove();
            noteEmptied(next.number);
        }
        for (int i = 0; i < emptiedCount; i++) {
            int number = emptied[i];
            boolean isReferredTo = number < otherReferences.length && otherReferences[number] != 0;
            if (!isReferredTo && (number >= counts.length || counts[number] == 0)) {
                unused.add(new Unused(this, number, batch));
            }
        }
        emptiedCount = 0;
    }

    /** Rows by word, sorted; those without any left out. */
    Map<String, Long> counts() {
        Map<String, Long> rows = new TreeMap<>();
        long[] all = counts;
        String[] now = texts;
        for (int number = 0; number < Math.min(now.length, all.length); number++) {
            String text = (String) TEXT.getAcquire(now, number);
            long count = (long) COUNT.getAcquire(all, number);
            // The same before and after: else the count may be of another word that had the number.
            if (text != null && count != 0 && TEXT.getAcquire(now, number) == text) {
                rows.put(text, count);
            }
        }
        return rows;
    }

    /** The texts of some numbers, in their places; empty ones in those between. */
    List<String> texts(BitSet wanted) {
        String[] now = texts;
        return IntStream.range(0, wanted.length())
                .mapToObj(number -> wanted.get(number) ? now[number] : "")
                .toList();
    }

    /** How many words there are, by the filler. */
    int size() {
        return numbers.size();
    }
}
