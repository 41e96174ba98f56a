package dev.puri.resolver.table;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** All that a table's records refer to by number. */
final class Words {
    /** Numbers a prefix that has no number of its own. */
    static final int OTHER_PREFIX = 31;

    private static final int PREFIXES = 26 * 26 * 26;

    final Dictionary<Collection> collections = new Dictionary<>(Collection::new);
    final Dictionary<Word<Owner>> owners = new Dictionary<>(text -> new Word<>(new Owner(text), text));
    final Dictionary<Word<Shard>> shards = new Dictionary<>(text -> new Word<>(new Shard(text), text));
    final Dictionary<String> topics = new Dictionary<>(topic -> topic);

    /** Of each prefix its number, OTHER_PREFIX until it has one. */
    private final byte[] prefixNumbers = new byte[PREFIXES];

    private final short[] prefixes = new short[OTHER_PREFIX];
    private volatile int prefixCount;

    Words() {
        Arrays.fill(prefixNumbers, (byte) OTHER_PREFIX);
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
