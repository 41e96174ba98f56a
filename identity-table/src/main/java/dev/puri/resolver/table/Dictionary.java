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
 * Words that many rows share. Each word has a small number, which records contain instead. A word that no record refers
 * to any more is removed, and its number is reused. Three kinds of threads use it:
 *
 * <pre>
 * filler   interns words and packs their numbers into batches; removes words
 * writer   counts the records that refer to a word; reports words without references
 * readers  look up the word of a number that they found in a record
 * </pre>
 *
 * <p>The writer cannot remove a word itself, because a queued batch may refer to the word again. So it reports the word
 * with the number of the last written batch, and the filler removes it unless a later batch uses it.
 *
 * <p>A reader may hold a copy of a freed record, whose number may already have another word. {@link Index} detects that
 * by its stamps, because a word is removed only after the records that referred to it were destroyed.
 */
final class Dictionary<T> {
    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(Object[].class);
    private static final VarHandle TEXT = MethodHandles.arrayElementVarHandle(String[].class);
    private static final int FIRST_CAPACITY = 16;

    private final Function<String, T> make;
    private volatile Object[] words = new Object[FIRST_CAPACITY];
    private volatile String[] texts = new String[FIRST_CAPACITY];

    /** Confined to the filler: numbers by text, and a cache by bytes. */
    private final Map<String, Integer> numbers = new HashMap<>();

    private final WordCache cache = new WordCache(this::intern);
    private boolean isCacheStale;

    /** Confined to the filler: numbers in use, and a number below which all are. */
    private final BitSet taken = new BitSet();

    private int lowestFree;

    /** Confined to the filler: the current batch, and the last batch that used each word. */
    private long batch;

    private long[] lastUsed = new long[FIRST_CAPACITY];

    /** Confined to the writer: rows by word. */
    private volatile long[] counts = new long[FIRST_CAPACITY];

    /** Confined to the writer: by word, references of rows that are not counted under it. */
    private long[] otherReferences = new long[FIRST_CAPACITY];

    /** Confined to the writer: words that lost their last row or reference; some have new ones since. */
    private int[] emptied = new int[FIRST_CAPACITY];

    private int emptiedCount;

    /**
     * Passed from the filler to the writer: new words with their batch. The record of a new word may turn out
     * unreadable, and then nothing else would report that no record refers to the word.
     */
    private final Queue<Unused> added = new ConcurrentLinkedQueue<>();

    /** A word that no record referred to after a batch was written. */
    record Unused(Dictionary<?> dictionary, int number, long batch) {
        /** Called by the filler. */
        void forget() {
            dictionary.forget(this);
        }
    }

    /**
     * @param make creates a word from its text; throws an {@link IllegalArgumentException} if it is invalid
     */
    Dictionary(Function<String, T> make) {
        this.make = make;
    }

    /** Notes that the following words are used in this batch. Called by the filler. */
    void begin(long batch) {
        this.batch = batch;
    }

    /** Returns the number of a word. Called by the filler. */
    int intern(String text) {
        Integer known = numbers.get(text);
        int number = known == null ? add(text) : known;
        use(number);
        return number;
    }

    /** Returns the number of the word text[from..to). Called by the filler. */
    int intern(byte[] text, int from, int to) {
        if (isCacheStale) {
            cache.clear();
            isCacheStale = false;
        }
        int number = cache.number(text, from, to);
        use(number);
        return number;
    }

    /** Notes that a record of the current batch refers to a word. Called by the filler. */
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

    /** Adds words by their numbers to the empty dictionary; an empty text leaves the number free. */
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
        // No reader may see this before it sees that the records were destroyed.
        VarHandle.releaseFence();
        numbers.remove(texts[number]);
        TEXT.setRelease(texts, number, null);
        WORD.setRelease(words, number, null);
        taken.clear(number);
        lowestFree = Math.min(lowestFree, number);
        isCacheStale = true;
    }

    /** Returns the word of a number of a record that was not freed. */
    @SuppressWarnings("unchecked") // only T's are put in
    T word(int number) {
        return (T) words[number];
    }

    /** Returns the word of a number; null if it has none, which happens to numbers of freed records. */
    @SuppressWarnings("unchecked") // only T's are put in
    @Nullable
    T wordIfAny(int number) {
        return (T) words[number];
    }

    /** Counts rows of a word. Called by the writer. */
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

    /** Counts references of rows that are not counted under the word. Called by the writer. */
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

    /** Reports the words that no record refers to after this batch. Called by the writer. */
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

    /** Returns rows by word, sorted, without words that have none. */
    Map<String, Long> counts() {
        Map<String, Long> rows = new TreeMap<>();
        long[] all = counts;
        String[] now = texts;
        for (int number = 0; number < Math.min(now.length, all.length); number++) {
            String text = (String) TEXT.getAcquire(now, number);
            long count = (long) COUNT.getAcquire(all, number);
            // Compared again: the count may be of another word that had the number before.
            if (text != null && count != 0 && TEXT.getAcquire(now, number) == text) {
                rows.put(text, count);
            }
        }
        return rows;
    }

    /** Returns the texts of some numbers at their index, and empty texts between them. */
    List<String> texts(BitSet wanted) {
        String[] now = texts;
        return IntStream.range(0, wanted.length())
                .mapToObj(number -> wanted.get(number) ? now[number] : "")
                .toList();
    }

    /** Returns the number of words. Called by the filler. */
    int size() {
        return numbers.size();
    }
}
