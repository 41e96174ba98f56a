package dev.puri.resolver.table;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.RowHash;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The dictionaries of a table: the words that packed records refer to by code. {@link Dictionary} explains the
 * threads and the removal of unused words. Topics, and the prefixes of handles, are never removed.
 */
final class Dictionaries {
    /** The code in a record whose prefix has no code of its own. Only 31 prefixes have one, 0 to 30. */
    static final int OTHER_PREFIX = 31;

    private static final int PREFIXES = 26 * 26 * 26;

    final Dictionary<Collection> collections = new Dictionary<>(Collection::new);
    final Dictionary<Word<Owner>> owners = new Dictionary<>(text -> new Word<>(new Owner(text), text));
    final Dictionary<Word<Shard>> shards = new Dictionary<>(text -> new Word<>(new Shard(text), text));
    final Dictionary<String> topics = new Dictionary<>(text -> new Position(text, 0, 0).topic());

    /** Tells the packer which words the writer has found unused, see {@link Dictionary}. */
    private final Queue<Dictionary.UnusedWord> unused = new ConcurrentLinkedQueue<>();

    /** Only used by the packer: the number of the current batch. */
    private long batch;

    /** The number of open {@link Hold}s; guarded by this object's lock. */
    private int holds;

    /** The code of each prefix; OTHER_PREFIX if it has none. */
    private final byte[] prefixCodes = new byte[PREFIXES];

    private final short[] prefixes = new short[OTHER_PREFIX];
    private volatile int prefixCount;

    Dictionaries() {
        Arrays.fill(prefixCodes, (byte) OTHER_PREFIX);
    }

    /** Starts a batch and returns its number. Called by the packer. */
    long beginBatch() {
        removeUnused();
        batch++;
        collections.beginBatch(batch);
        owners.beginBatch(batch);
        shards.beginBatch(batch);
        return batch;
    }

    /** Notes that all rows of a batch are in the table. Called by the writer. */
    void batchWritten(long batch) {
        collections.queueUnused(batch, unused);
        owners.queueUnused(batch, unused);
        shards.queueUnused(batch, unused);
    }

    /** Removes the words that no packed record refers to. Does nothing during a hold. Called by the packer. */
    void removeUnused() {
        if (unused.isEmpty()) {
            return;
        }
        synchronized (this) {
            while (holds == 0) {
                Dictionary.UnusedWord word = unused.poll();
                if (word == null) {
                    return;
                }
                word.removeIfUnused();
            }
        }
    }

    /**
     * Prevents the removal of words until closed. For readers that check the stamp of a record first and look up its
     * words later.
     */
    synchronized Hold hold() {
        holds++;
        return this::release;
    }

    private synchronized void release() {
        holds--;
    }

    /** Prevents the removal of words until it is closed. */
    interface Hold extends AutoCloseable {
        @Override
        void close();
    }

    /** A word and its text, which has no characters that JSON escapes. */
    static final class Word<T> {
        final T value;
        final byte[] text;

        /** {@link RowHash#ofText} of the text. */
        final long hash;

        Word(T value, String text) {
            this.value = value;
            this.text = text.getBytes(StandardCharsets.US_ASCII);
            hash = RowHash.ofText(this.text);
        }
    }

    /** A collection with its namespace. */
    static final class Collection {
        /** {@code namespace:collection}. */
        final String qualified;

        /** {@code namespace:collection:}, with which the pURIs of its rows begin. */
        final String text;

        /** The same text as bytes. */
        final byte[] bytes;

        Collection(String qualified) {
            this.qualified = qualified;
            text = qualified + ':';
            bytes = text.getBytes(StandardCharsets.US_ASCII);
        }

        boolean equalsText(byte[] puri, int length) {
            return equalsText(puri, 0, length);
        }

        boolean equalsText(byte[] puri, int from, int to) {
            return Arrays.equals(bytes, 0, bytes.length, puri, from, to);
        }
    }

    /** Returns the code of a prefix, or {@link #OTHER_PREFIX}. Assigns a free code to a new prefix. */
    int intern(int prefix) {
        int code = prefixCodes[prefix];
        if (code == OTHER_PREFIX && prefixCount < OTHER_PREFIX) {
            code = prefixCount;
            prefixes[code] = (short) prefix;
            prefixCodes[prefix] = (byte) code;
            prefixCount = code + 1;
        }
        return code;
    }

    /** Returns the prefix with a code. */
    int prefix(int code) {
        return prefixes[code];
    }

    /** Returns the prefixes that have codes, in the order of the codes. */
    List<Integer> prefixes() {
        List<Integer> list = new ArrayList<>();
        int count = prefixCount;
        for (int code = 0; code < count; code++) {
            list.add((int) prefixes[code]);
        }
        return list;
    }
}
