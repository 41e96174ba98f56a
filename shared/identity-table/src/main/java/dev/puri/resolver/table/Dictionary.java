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
 * Assigns codes, which are small numbers, to the words that many rows share, for example to owners. A packed record
 * contains the code instead of the word. The dictionary removes a word when no packed record refers to it any more, and
 * then reuses its code. Three kinds of threads use a dictionary:
 *
 * <pre>
 * packer   adds words and packs their codes into batches; removes words
 * writer   counts the packed records that refer to a word; reports words without references to the packer
 * readers  look up the word of a code that they read from a packed record
 * </pre>
 *
 * <p>The writer cannot remove a word itself, because a queued batch may refer to the word again. So the writer reports
 * the word with the number of the last written batch. The packer removes the word unless a later batch uses it.
 *
 * <p>A reader may copy a record that is freed meanwhile, and a code in the copy may already belong to another word. The
 * reader detects this by the stamp, which is a counter of each segment of the {@link Index}. The stamp changes before a
 * record of the segment is freed, and a word is removed only after all records that referred to it were freed. So if
 * the stamp is the same before and after the reader looked up the words, the words belong to the record.
 */
final class Dictionary<T> {
    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(Object[].class);
    private static final VarHandle TEXT = MethodHandles.arrayElementVarHandle(String[].class);
    private static final int INITIAL_CAPACITY = 16;

    private final Function<String, T> parse;
    private volatile Object[] words = new Object[INITIAL_CAPACITY];
    private volatile String[] texts = new String[INITIAL_CAPACITY];

    /** Only used by the packer: the code of each word, by its text. */
    private final Map<String, Integer> codes = new HashMap<>();

    /** Only used by the packer: the codes of recent words, by the bytes of the text. */
    private final WordCache cache = new WordCache(this::intern);

    /** Whether the cache may contain a removed word. */
    private boolean isCacheStale;

    /** Only used by the packer: the assigned codes. */
    private final BitSet assigned = new BitSet();

    /** Only used by the packer: all codes below this code are assigned. */
    private int freeLowerBound;

    /** Only used by the packer: the number of the current batch. */
    private long batch;

    /** Only used by the packer: the number of the last batch that used each word. */
    private long[] lastUsingBatch = new long[INITIAL_CAPACITY];

    /**
     * Written by the writer, read by any thread. By code: the number of rows that have the word as their own
     * collection, owner or shard.
     */
    private volatile long[] rowCounts = new long[INITIAL_CAPACITY];

    /**
     * Only used by the writer. By code of a collection: the number of merged rows whose survivor is in the collection.
     */
    private long[] survivorCounts = new long[INITIAL_CAPACITY];

    /** Only used by the writer: words whose count became zero in this batch. It may have increased again since then. */
    private int[] unusedCandidates = new int[INITIAL_CAPACITY];

    private int candidateCount;

    /**
     * New words, from the packer to the writer, and those of a snapshot. If the topic record that contained a new word
     * turns out to be unreadable, no packed record refers to the word, and the writer learns of the word only from this
     * queue.
     */
    private final Queue<NewWord> newWords = new ConcurrentLinkedQueue<>();

    /** A new word, and the batch that added it. */
    private record NewWord(int code, long batch) {}

    /** A word to which no packed record referred after this batch was written. */
    record UnusedWord(Dictionary<?> dictionary, int code, long batch) {
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

    /** Returns the code of a word, and adds the word if it is new. Called by the packer. */
    int intern(String text) {
        Integer knownCode = codes.get(text);
        int code = knownCode == null ? add(text) : knownCode;
        noteUse(code);
        return code;
    }

    /** Returns the code of the word text[from..to), and adds the word if it is new. Called by the packer. */
    int intern(byte[] text, int from, int to) {
        if (isCacheStale) {
            cache.clear();
            isCacheStale = false;
        }
        int code = cache.code(text, from, to);
        noteUse(code);
        return code;
    }

    /** Notes that a record of the current batch refers to a word. Called by the packer. */
    void noteUse(int code) {
        lastUsingBatch[code] = batch;
    }

    private int add(String text) {
        T word = parse.apply(text);
        int code = assigned.nextClearBit(freeLowerBound);
        put(code, text, word);
        freeLowerBound = code + 1;
        newWords.add(new NewWord(code, batch));
        return code;
    }

    private void put(int code, String text, T word) {
        if (code >= words.length) {
            int capacity = Math.max(code + 1, 2 * words.length);
            words = Arrays.copyOf(words, capacity);
            texts = Arrays.copyOf(texts, capacity);
            lastUsingBatch = Arrays.copyOf(lastUsingBatch, capacity);
        }
        words[code] = word;
        TEXT.setRelease(texts, code, text);
        codes.put(text, code);
        assigned.set(code);
    }

    /** Adds the words of a snapshot to the empty dictionary. An empty text leaves its code free. */
    void load(List<String> textsByCode) {
        for (int code = 0; code < textsByCode.size(); code++) {
            String text = textsByCode.get(code);
            if (!text.isEmpty()) {
                put(code, text, parse.apply(text));
                // Perhaps only replaced rows of the snapshot refer to the word.
                newWords.add(new NewWord(code, batch));
            }
        }
    }

    private void removeIfUnused(UnusedWord unused) {
        int code = unused.code;
        if (!assigned.get(code) || lastUsingBatch[code] > unused.batch) {
            return;
        }
        // A reader that sees the removal must also see the changed stamps of the freed records.
        VarHandle.releaseFence();
        codes.remove(texts[code]);
        TEXT.setRelease(texts, code, null);
        WORD.setRelease(words, code, null);
        assigned.clear(code);
        freeLowerBound = Math.min(freeLowerBound, code);
        isCacheStale = true;
    }

    /** Returns the word of a code, which must be from a record that is not freed. */
    @SuppressWarnings("unchecked") // only T's are put in
    T word(int code) {
        return (T) words[code];
    }

    /** Returns the word of a code, or null if the code has no word because its record was freed. */
    @SuppressWarnings("unchecked") // only T's are put in
    @Nullable
    T wordOrNull(int code) {
        return (T) words[code];
    }

    /** Adds to the number of rows of a word; a negative delta subtracts. Called by the writer. */
    void addRows(int code, long delta) {
        long[] current = rowCounts;
        if (code >= current.length) {
            current = Arrays.copyOf(current, Math.max(code + 1, 2 * current.length));
            rowCounts = current;
        }
        long newCount = current[code] + delta;
        COUNT.setOpaque(current, code, newCount);
        if (newCount == 0) {
            addUnusedCandidate(code);
        }
    }

    /** Adds to the number of merged rows whose survivor is in a collection. Called by the writer. */
    void addSurvivors(int code, long delta) {
        if (code >= survivorCounts.length) {
            survivorCounts = Arrays.copyOf(survivorCounts, Math.max(code + 1, 2 * survivorCounts.length));
        }
        survivorCounts[code] += delta;
        if (survivorCounts[code] == 0) {
            addUnusedCandidate(code);
        }
    }

    private void addUnusedCandidate(int code) {
        if (candidateCount == unusedCandidates.length) {
            unusedCandidates = Arrays.copyOf(unusedCandidates, 2 * candidateCount);
        }
        unusedCandidates[candidateCount++] = code;
    }

    /** Queues the words that no packed record refers to after this batch. Called by the writer. */
    void queueUnused(long batch, Queue<UnusedWord> unused) {
        for (NewWord newWord = newWords.peek(); newWord != null && newWord.batch <= batch; newWord = newWords.peek()) {
            newWords.remove();
            addUnusedCandidate(newWord.code);
        }
        for (int i = 0; i < candidateCount; i++) {
            int code = unusedCandidates[i];
            boolean hasSurvivors = code < survivorCounts.length && survivorCounts[code] != 0;
            if (!hasSurvivors && (code >= rowCounts.length || rowCounts[code] == 0)) {
                unused.add(new UnusedWord(this, code, batch));
            }
        }
        candidateCount = 0;
    }

    /** Returns the number of rows of each word, sorted by word, without words that have no rows. */
    Map<String, Long> counts() {
        Map<String, Long> rows = new TreeMap<>();
        long[] current = rowCounts;
        String[] textsNow = texts;
        for (int code = 0; code < Math.min(textsNow.length, current.length); code++) {
            String text = (String) TEXT.getAcquire(textsNow, code);
            long count = (long) COUNT.getAcquire(current, code);
            // Read again: meanwhile the code may have been assigned to another word.
            if (text != null && count != 0 && TEXT.getAcquire(textsNow, code) == text) {
                rows.put(text, count);
            }
        }
        return rows;
    }

    /** Returns texts by code: the text of each wanted code, and an empty text for any other code. */
    List<String> texts(BitSet wantedCodes) {
        String[] textsNow = texts;
        return IntStream.range(0, wantedCodes.length())
                .mapToObj(code -> wantedCodes.get(code) ? textsNow[code] : "")
                .toList();
    }

    /** Returns the number of words. Called by the packer. */
    int size() {
        return codes.size();
    }
}
