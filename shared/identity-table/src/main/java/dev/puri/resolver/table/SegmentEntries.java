package dev.puri.resolver.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Copies of the records of one segment of an {@link Index}, and their tags. */
final class SegmentEntries implements Index.EntryConsumer {
    private final List<byte[]> records = new ArrayList<>();
    private long[] tags = new long[64];
    private boolean hasDamaged;

    @Override
    public void restart() {
        records.clear();
        hasDamaged = false;
    }

    @Override
    public void acceptDamaged() {
        hasDamaged = true;
    }

    /** Returns whether an entry pointed to no record. */
    boolean hasDamaged() {
        return hasDamaged;
    }

    @Override
    public void accept(long tag, byte[] record) {
        if (records.size() == tags.length) {
            tags = Arrays.copyOf(tags, 2 * tags.length);
        }
        tags[records.size()] = tag;
        records.add(record);
    }

    List<byte[]> records() {
        return records;
    }

    /** Returns the tag of the entry of a record. */
    int tag(int i) {
        return (int) tags[i];
    }

    /** Returns whether the index finds a record by a hash: the entry is in the segment of the hash and has its tag. */
    boolean isFoundBy(long hash, int i, int segment) {
        return Index.segmentOf(hash) == segment && Index.tagOf(hash) == tags[i];
    }
}
