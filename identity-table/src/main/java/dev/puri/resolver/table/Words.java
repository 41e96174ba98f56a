package dev.puri.resolver.table;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The dictionaries of a table: the texts that its records refer to by number. {@link Dictionary} explains the threads,
 * and how unused words are removed. Prefixes and topics are never removed.
 */
final class Words {
    /** The number of all prefixes without a number of their own. */
    static final int OTHER_PREFIX = 31;

    private static final int PREFIXES = 26 * 26 * 26;

    final Dictionary<Collection> collections = new Dictionary<>(Collection::new);
    final Dictionary<Word<Owner>> owners = new Dictionary<>(text -> new Word<>(new Owner(text), text));
    final Dictionary<Word<Shard>> shards = new Dictionary<>(text -> new Word<>(new Shard(text), text));
    final Dictionary<String> topics = new Dictionary<>(text -> new Position(text, 0, 0).topic());

    /** Passed from the writer to the filler. */
    private final Queue<Dictionary.Unused> unused = new ConcurrentLinkedQueue<>();

    /** Confined to the filler: the number of the batch that it fills. */
    private long batch;

    /** Holders that keep all words from being removed; guarded by this object's lock. */
    private int holds;

    /** By prefix, its number; OTHER_PREFIX until it has one. */
    private final byte[] prefixNumbers = new byte[PREFIXES];

    private final short[] prefixes = new short[OTHER_PREFIX];
    private volatile int prefixCount;

    Words() {
        Arrays.fill(prefixNumbers, (byte) OTHER_PREFIX);
    }

    /** Begins another batch and returns its number. Called by the filler. */
    long beginBatch() {
        forgetUnused();
        batch++;
        collections.begin(batch);
        owners.begin(batch);
        shards.begin(batch);
        return batch;
    }

    /** Notes that this batch is written and nobody reads it any more. Called by the writer. */
    void written(long batch) {
        collections.queueUnused(batch, unused);
        owners.queueUnused(batch, unused);
        shards.queueUnused(batch, unused);
    }

    /** Removes the words that no record refers to; held words after the hold. Called by the filler. */
    void forgetUnused() {
        if (unused.isEmpty()) {
            return;
        }
        synchronized (this) {
            while (holds == 0) {
                Dictionary.Unused next = unused.poll();
                if (next == null) {
                    return;
                }
                next.forget();
            }
        }
    }

    /** Keeps all words from being removed, for a reader that looks up the words of records later. */
    synchronized Hold hold() {
        holds++;
        return this::release;
    }

    private synchronized void release() {
        holds--;
    }

    /** Keeps words until it is closed. */
    interface Hold extends AutoCloseable {
        @Override
        void close();
    }

    /** A word and its text, which contains no character that JSON escapes. */
    static final class Word<T> {
        final T value;
        final byte[] text;

        Word(T value, String text) {
            this.value = value;
            this.text = text.getBytes(StandardCharsets.US_ASCII);
        }
    }

    /** A collection with its namespace. */
    static final class Collection {
        /** {@code namespace:collection}. */
        final String qualified;

        /** {@code namespace:collection:}, the prefix of the names of its rows. */
        final String text;

        /** The same text as bytes. */
        final byte[] bytes;

        Collection(String qualified) {
            this.qualified = qualified;
            text = qualified + ':';
            bytes = text.getBytes(StandardCharsets.US_ASCII);
        }

        boolean begins(byte[] name, int length) {
            return begins(name, 0, length);
        }

        boolean begins(byte[] name, int from, int to) {
            return Arrays.equals(bytes, 0, bytes.length, name, from, to);
        }
    }

    /** The number of a prefix, which is assigned while there are free ones. */
    int intern(int prefix) {
        int number = prefixNumbers[prefix];
        if (number == OTHER_PREFIX && prefixCount < OTHER_PREFIX) {
            number = prefixCount;
            prefixes[number] = (short) prefix;
            prefixNumbers[prefix] = (byte) number;
            prefixCount = number + 1;
        }
        return number;
    }

    /** The prefix of a record's number. */
    int prefix(int number) {
        return prefixes[number];
    }

    /** The prefixes that have numbers, in their order. */
    List<Integer> prefixes() {
        List<Integer> all = new ArrayList<>();
        int known = prefixCount;
        for (int number = 0; number < known; number++) {
            all.add((int) prefixes[number]);
        }
        return all;
    }
}
