package dev.puri.search.lucene;

import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;

/**
 * A Bloom filter of the keys in an index that was empty when it was opened. The index surely has no entry of a key that
 * the filter does not contain; such an entry is added without a look-up of an older one. A false positive costs that
 * look-up and nothing else, so 8 MiB suffice for any number of keys; up to about 10 million keys there are few. Not
 * thread-safe.
 */
final class KeyBloomFilter {
    private static final int BITS = 1 << 26;
    private static final int PROBES = 4;

    private final long[] words = new long[BITS / Long.SIZE];

    /**
     * Adds a key.
     *
     * @return false if the filter surely did not contain the key
     */
    boolean add(BytesRef key) {
        long[] hash = StringHelper.murmurhash3_x64_128(key);
        boolean contained = true;
        for (int probe = 0; probe < PROBES; probe++) {
            int bit = (int) (hash[0] + probe * hash[1]) & BITS - 1;
            long mask = 1L << bit;
            contained &= (words[bit >>> 6] & mask) != 0;
            words[bit >>> 6] |= mask;
        }
        return contained;
    }
}
