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
 * Assigns small numbers to the words that many rows share, for example to owners. A packed record contains the number
 * instead of the word. The dictionary removes a word when no packed record refers to it any more, and then reuses its
 * number. Three kinds of threads use a dictionary:
 *
 * <pre>
 * packer   adds words and packs their numbers into batches; removes words
 * writer   counts the packed records that refer to a word; reports words without references to the packer
 * readers  look up the word of a number that they read from a packed record
 * </pre>
 *
 * <p>The writer cannot remove a word itself, because a queued batch may refer to the word again. So the writer reports
 * the word with the number of the last written batch. The packer removes the word unless a later batch uses it.
 *
 * <p>A reader may copy a record that is freed meanwhile, and a number in the copy may already belong to another word.
 * The {@link Index} detects this by the stamp: the stamp changes before a record is freed, and a word is removed only
 * after all records that referred to it were freed.
 */
final class Dictionary<T> {
    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(Object[].class);
    private static final VarHandle TEXT = MethodHandles.arrayElementVarHandle(String[].class);
    private static final int INITIAL_CAPACITY = 16;

    private final Function<String, T> parse;
    private volatile Object[] words = new Object[INITIAL_CAPACITY];
    private volatile String[] texts = new String[INITIAL_CAPACITY];

    /** Only used by the packer: the number of each text, and a cache by bytes. */
    private final Map<String, Integer> numbers = new HashMap<>();

    private final WordCache cache = new WordCache(this::intern);

    /** Whether the cache may contain a removed word. */
    private boolean isCacheStale;

    /** Only used by the packer: the assigned numbers. */
    private final BitSet assigned = new BitSet();

    /** Only used by the packer: all numbers below this number are assigned. */
    private int freeLowerBound;

    /** Only used by the packer: the number of the current batch. */
    private long batch;

    /** Only used by the packer: the number of the last batch that used each word. */
    private long[] lastUsingBatch = new long[INITIAL_CAPACITY];

    /** Written by the writer, read by any thread: the number of rows of each word. */
    private volatile long[] rowCounts = new long[INITIAL_CAPACITY];

    /**
     * Only used by the writer: by word, the references that are not rows of the word, such as survivors' collections.
     */
    private long[] otherReferences = new long[INITIAL_CAPACITY];

    /** Only used by the writer: words whose count became zero in this batch. It may have increased again since then. */
    private int[] unusedCandidates = new int[INITIAL_CAPACITY];

    private int candidateCount;

    /**
     * New words with their batch, from the packer to the writer. If the topic record that contained a new word turns
     * out to be unreadable, no packed record refers to the word, and the writer learns of the word only from this
     * queue.
     */
    private final Queue<WordOfBatch> newWords = new ConcurrentLinkedQueue<>();

    /** A word, and the batch that added it or after which no packed record referred to it. */
    record WordOfBatch(Dictionary<?> dictionary, int number, long batch) {
        /** Removes the word unless a later batch uses it. Called by the packer. */
        void removeIfUnused() {
            dictionary.removeIfUnused(this);
        }
    }

    /**
     * @param parse creates a word from its text; throws an {@link IllegalArgumentException} if it is invalid
     */
    Dictionary(Function<String, T> parse) {
        this.parse = parse;
    }

    /** Starts a batch. All words used from now on are used by this batch. Called by the packer. */
    void beginBatch(long batch) {
        this.batch = batch;
    }

    /** Returns the number of a word, and adds the word if it is new. Called by the packer. */
    int intern(String text) {
        Integer knownNumber = numbers.get(text);
        int number = knownNumber == null ? add(text) : knownNumber;
        noteUse(number);
        return number;
    }

    /** Returns the number of the word text[from..to), and adds the word if it is new. Called by the packer. */
    int intern(byte[] text, int from, int to) {
        if (isCacheStale) {
            cache.clear();
            isCacheStale = false;
        }
        int number = cache.number(text, from, to);
        noteUse(number);
        return number;
    }

    /** Notes that a record of the current batch refers to a word. Called by the packer. */
    void noteUse(int number) {
        lastUsingBatch[number] = batch;
    }

    private int add(String text) {
        T word = parse.apply(text);
        int number = assigned.nextClearBit(freeLowerBound);
        put(number, text, word);
        freeLowerBound = number + 1;
        newWords.add(new WordOfBatch(this, number, batch));
        return number;
    }

    private void put(int number, String text, T word) {
        if (number >= words.length) {
            int capacity = Math.max(number + 1, 2 * words.length);
            words = Arrays.copyOf(words, capacity);
            texts = Arrays.copyOf(texts, capacity);
            lastUsingBatch = Arrays.copyOf(lastUsingBatch, capacity);
        }
        words[number] = word;
        TEXT.setRelease(texts, number, text);
        numbers.put(text, number);
        assigned.set(number);
    }

    /** Adds the words of a snapshot to the empty dictionary. An empty text leaves its number free. */
    void load(List<String> byNumber) {
        for (int number = 0; number < byNumber.size(); number++) {
            String text = byNumber.get(number);
            if (!text.isEmpty()) {
                put(number, text, parse.apply(text));
            }
        }
    }

    private void removeIfUnused(WordOfBatch unused) {
        int number = unused.number;
        if (!assigned.get(number) || lastUsingBatch[number] > unused.batch) {
            return;
        }
        // A reader that sees the removal must also see the changed stamps of the freed records.
        VarHandle.releaseFence();
        numbers.remove(texts[number]);
        TEXT.setRelease(texts, number, null);
        WORD.setRelease(words, number, null);
        assigned.clear(number);
        freeLowerBound = Math.min(freeLowerBound, number);
        isCacheStale = true;
    }

    /** Returns the word of a number, which must be from a record that is not freed. */
    @SuppressWarnings("unchecked") // only T's are put in
    T word(int number) {
        return (T) words[number];
    }

    /** Returns the word of a number, or null if the number has no word because its record was freed. */
    @SuppressWarnings("unchecked") // only T's are put in
    @Nullable
    T wordOrNull(int number) {
        return (T) words[number];
    }

    /** Adds to the number of rows of a word; a negative delta subtracts. Called by the writer. */
    void addRows(int number, long delta) {
        long[] current = rowCounts;
        if (number >= current.length) {
            current = Arrays.copyOf(current, Math.max(number + 1, 2 * current.length));
            rowCounts = current;
        }
        long newCount = current[number] + delta;
        COUNT.setOpaque(current, number, newCount);
        if (newCount == 0) {
            addUnusedCandidate(number);
        }
    }

    /** Adds to the number of references that are not rows of the word. Called by the writer. */
    void addOtherReferences(int number, long delta) {
        if (number >= otherReferences.length) {
            otherReferences = Arrays.copyOf(otherReferences, Math.max(number + 1, 2 * otherReferences.length));
        }
        otherReferences[number] += delta;
        if (otherReferences[number] == 0) {
            addUnusedCandidate(number);
        }
    }

    private void addUnusedCandidate(int number) {
        if (candidateCount == unusedCandidates.length) {
            unusedCandidates = Arrays.copyOf(unusedCandidates, 2 * candidateCount);
        }
        unusedCandidates[candidateCount++] = number;
    }

    /** Queues the words that no packed record refers to after this batch. Called by the writer. */
    void queueUnused(long batch, Queue<WordOfBatch> unused) {
        for (WordOfBatch newWord = newWords.peek();
                newWord != null && newWord.batch <= batch;
                newWord = newWords.peek()) {
            newWords.remove();
            addUnusedCandidate(newWord.number);
        }
        for (int i = 0; i < candidateCount; i++) {
            int number = unusedCandidates[i];
            boolean hasOtherReferences = number < otherReferences.length && otherReferences[number] != 0;
            if (!hasOtherReferences && (number >= rowCounts.length || rowCounts[number] == 0)) {
                unused.add(new WordOfBatch(this, number, batch));
            }
        }
        candidateCount = 0;
    }

    /** Returns the number of rows of each word, sorted by word, without words that have no rows. */
    Map<String, Long> counts() {
        Map<String, Long> rows = new TreeMap<>();
        long[] current = rowCounts;
        String[] textsNow = texts;
        for (int number = 0; number < Math.min(textsNow.length, current.length); number++) {
            String text = (String) TEXT.getAcquire(textsNow, number);
            long count = (long) COUNT.getAcquire(current, number);
            // Read again: meanwhile the number may have been assigned to another word.
            if (text != null && count != 0 && TEXT.getAcquire(textsNow, number) == text) {
                rows.put(text, count);
            }
        }
        return rows;
    }

    /** Returns a list that has the text of each wanted number at the index of this number, and else empty texts. */
    List<String> texts(BitSet wantedNumbers) {
        String[] textsNow = texts;
        return IntStream.range(0, wantedNumbers.length())
                .mapToObj(number -> wantedNumbers.get(number) ? textsNow[number] : "")
                .toList();
    }

    /** Returns the number of words. Called by the packer. */
    int size() {
        return numbers.size();
    }
}
