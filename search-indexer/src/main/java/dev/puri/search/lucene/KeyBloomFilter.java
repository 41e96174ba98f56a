package dev.puri.search.lucene;

import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;

/**
 * Which keys an index that began empty may have: a Bloom filter. Of a key that it has not seen the index has no
 * entry for certain, which then is added without looking for one to replace. One that it has wrongly for seen costs
 * that look and nothing else, so 8 MiB do for any number of keys; they tell apart some 10 million well. For one
 * thread.
 */
final class KeyBloomFilter {
    private static final int BITS = 1 << 26;
    private static final int PROBES = 4;

    private final long[] words = new long[BITS / Long.SIZE];

    /**
     * Sees a key.
     *
     * @return false when it has not been seen before, for certain
     */
    boolean add(BytesRef key) {
        long[] hash = StringHelper.murmurhash3_x64_128(key);
        boolean seen = true;
        for (int probe = 0; probe < PROBES; probe++) {
            int bit = (int) (hash[0] + probe * hash[1]) & BITS - 1;
            long mask = 1L << bit;
            seen &= (words[bit >>> 6] & mask) != 0;
            words[bit >>> 6] |= mask;
        }
        return seen;
    }
}
