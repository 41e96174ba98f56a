package dev.puri.search.lucene;

import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;

/**
 * A Bloom filter of the keys in an index that was empty when it was opened. If the filter does not contain a key, the
 * index has no entry with this key, so the writer can add the entry instead of replacing an older entry. A false
 * positive costs only an unnecessary replacement. So 8 MiB suffice for any number of keys; up to about 10 million keys,
 * false positives are rare. Not thread-safe.
 */
final class KeyBloomFilter {
    private static final int BIT_COUNT = 1 << 26;
    private static final int BITS_OF_KEY = 4;

    private final long[] words = new long[BIT_COUNT / Long.SIZE];

    /**
     * Adds a key.
     *
     * @return false if the filter certainly did not contain the key; true if it contained the key or cannot know
     */
    boolean add(BytesRef key) {
        long[] hash = StringHelper.murmurhash3_x64_128(key);
        boolean mayContainKey = true;
        for (int i = 0; i < BITS_OF_KEY; i++) {
            int bit = (int) (hash[0] + i * hash[1]) & BIT_COUNT - 1;
            long mask = 1L << bit;
            mayContainKey &= (words[bit >>> 6] & mask) != 0;
            words[bit >>> 6] |= mask;
        }
        return mayContainKey;
    }
}
