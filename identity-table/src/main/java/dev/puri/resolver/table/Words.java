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
 * All that a table's records refer to by number. {@link Dictionary} tells which threads use it and how words are forgotten;
 * prefixes and topics are declared for good and never are.
 */
final class Words {
    /** Numbers a prefix that has no number of its own. */
    static final int OTHER_PREFIX = 31;

    private static final int PREFIXES = 26 * 26 * 26;

    final Dictionary<Collection> collections = new Dictionary<>(Collection::new);
    final Dictionary<Word<Owner>> owners = new Dictionary<>(text -> new Word<>(new Owner(text), text));
    final Dictionary<Word<Shard>> shards = new Dictionary<>(text -> new Word<>(new Shard(text), text));
    final Dictionary<String> topics = new Dictionary<>(text -> new Position(text, 0, 0).topic());

    /** From the writer to the filler. */
    private final Queue<Dictionary.Unused> unused = new ConcurrentLinkedQueue<>();

    /** Of the filler: the number of the batch that it fills. */
    private long batch;

    /** Those who need every word that there is; changed and asked for under this object's lock. */
    private int holds;

    /** Of each prefix its number, OTHER_PREFIX until it has one. */
    private final byte[] prefixNumbers = new byte[PREFIXES];

    private final short[] prefixes = new short[OTHER_PREFIX];
    private volatile int prefixCount;

    Words() {
        Arrays.fill(prefixNumbers, (byte) OTHER_PREFIX);
    }

    /** Begins another batch, by the filler, and returns its number. */
    long beginBatch() {
        forgetUnused();
        batch++;
        collections.begin(batch);
        owners.begin(batch);
        shards.begin(batch);
        return batch;
    }

    /** Says that this batch has been written and nobody reads it any more, by the writer. */
    void written(long batch) {
        collections.queueUnused(batch, unused);
        owners.queueUnused(batch, unused);
        shards.queueUnused(batch, unused);
    }

    /** Forgets the words that no record refers to, by the filler; later when they are held. */
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

    /** Has every word kept that a record may refer to from now on, for who reads records and looks up their words later. */
    synchronized Hold hold() {
        holds++;
        return this::release;
    }

    private synchronized void release() {
        holds--;
    }

    /** Words are kept until it is closed. */
    interface Hold extends AutoCloseable {
        @Override
        void close();
    }

    /** What a word means, and its text, in which there is nothing that JSON would escape. */
    static final class Word<T> {
        final T value;
        final byte[] text;

        Word(T value, String text) {
            this.value = value;
            this.text = text.getBytes(StandardCharsets.US_ASCII);
        }
    }

    /** A namespace and a collection in it. */
    static final class Collection {
        /** {@code namespace:collection}. */
        final String qualified;

        /** {@code namespace:collection:}, with which the names of its rows begin. */
        final String text;

        /** The same as bytes. */
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

    /** The number of a prefix, which gets one while there are some left. */
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

    /** The prefix of a number that stands in a record. */
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
