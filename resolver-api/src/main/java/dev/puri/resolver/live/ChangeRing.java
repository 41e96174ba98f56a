package dev.puri.resolver.live;

import dev.puri.projection.AvroValueDecoder;
import dev.puri.resolver.feed.RowChanges;
import dev.puri.resolver.table.Hash;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

/**
 * A ring buffer of the most recent changes of one table, in the order in which the table applied the changes. Only the
 * thread that writes the table adds changes; adding never blocks. Any thread may read.
 *
 * <p>Changes are numbered from 0. Change n is in slot n mod capacity, until change n + capacity replaces it. A reader
 * that is too slow finds a later change in the slot, or none. It notices because the number differs.
 *
 * <p>The ring has every change of a partition at or after the partition's offset in {@code coveredFrom}. This offset
 * advances before a slot is replaced. A reader must read {@link #oldestNumber} first and check the coverage second. The
 * offset may then be too high, but never too low: the reader may see a gap that does not exist, but it never overlooks
 * a gap.
 *
 * <p>An erasure withholds the earlier changes of its name: it replaces each by a change without content. It finds these
 * changes by a chain: each change has the number of the previous change whose name has the same hash. The hash is
 * seeded, so that nobody can choose names that share a chain. The chain then continues at the newest change of another
 * name, so a later erasure of the same name does not visit the withheld changes again.
 */
public final class ChangeRing implements RowChanges {
    /** The begin of the keys of marker records, which the topology writes and which are not changes of an identity. */
    private static final byte[] MARKER = Topics.MARKER.getBytes(StandardCharsets.US_ASCII);

    private static final byte[] NO_KEY = {};
    private static final long NONE = -1;

    /** Number of marks that are kept for one maximum age; with more marks, old changes are forgotten more promptly. */
    private static final int MARKS_PER_AGE = 64;

    private final int topicHash;
    private final AvroValueDecoder<IdentityRow> values;
    private final Runnable onChange;
    private final AtomicReferenceArray<@Nullable Entry> slots;

    /** By partition: the ring has every change at or after this offset. */
    private final AtomicLongArray coveredFrom;

    /** By partition: every change before this offset was added. */
    private final AtomicLongArray nextOffsets;

    /** The number that the next change will get. */
    private volatile long nextNumber;

    /** The last time at which the ring had every change of the topic, in seconds since 1970. */
    private volatile long completeAtSeconds;

    /** By hash of the name: the number of the last change plus 1, or 0 for none. Used only by the writer thread. */
    private final long[] lastByHash;

    private final long seed = ThreadLocalRandom.current().nextLong();

    /** Changes with smaller numbers were forgotten because of their age. */
    private volatile long firstRetained;

    /** Marks of the last maximum age, the newest last. Used only by the thread that calls forgetOlderThan. */
    private final Deque<Mark> marks = new ArrayDeque<>();

    /**
     * @param key the name; empty if the change is withheld
     * @param previousInChain number of the previous change whose name has the same hash; -1 if there is none
     */
    private record Entry(long number, Change change, byte[] key, long previousInChain) {}

    /** The number of the next change at an earlier time. */
    private record Mark(Instant at, long nextNumber) {}

    /**
     * @param nextOffsets by partition, the offset of the first change that will be added
     * @param completeAt a time at which the topic had no records at or after these offsets
     * @param values decodes the values of records that are added without decoding
     * @param onChange called after each change; must be quick
     */
    ChangeRing(
            Uuid topicId,
            long[] nextOffsets,
            Instant completeAt,
            int capacity,
            AvroValueDecoder<IdentityRow> values,
            Runnable onChange) {
        this.topicHash = ChangeId.topicHash(topicId);
        this.values = values;
        this.onChange = onChange;
        this.slots = new AtomicReferenceArray<>(capacity);
        this.lastByHash = new long[Integer.highestOneBit(capacity) * 2];
        this.coveredFrom = new AtomicLongArray(nextOffsets);
        this.nextOffsets = new AtomicLongArray(nextOffsets);
        this.completeAtSeconds = completeAt.getEpochSecond();
    }

    /**
     * Adds a change. The thread that writes the table calls it, after readers of the table can see the change. Takes no
     * lock. The threads of the subscribers encode the change later.
     *
     * @param offset of the record in {@code puri.identities.v1}; it grows within a partition
     * @param row the row after the change; null if there is none
     */
    @Override
    public void changed(int partition, long offset, Puri puri, @Nullable Row row) {
        if (!Topics.isMarker(puri)) {
            add(partition, offset, puri.toBytes(), new ChangeContent.Decoded(puri, row));
        }
    }

    /**
     * Adds a change like {@link #changed(int, long, Puri, Row)}, but decodes its record only if a subscriber needs it.
     *
     * @param key of the record; kept, not copied
     * @param value of the record; null for a tombstone
     * @param token value of the record's header {@code position}, the token of the event; null if it has none
     */
    @Override
    public void changed(int partition, long offset, byte[] key, byte @Nullable [] value, byte @Nullable [] token) {
        if (!isMarker(key)) {
            add(partition, offset, key, new ChangeContent.Encoded(key, value, token, values));
        }
    }

    private static boolean isMarker(byte[] key) {
        return key.length >= MARKER.length && Arrays.equals(key, 0, MARKER.length, MARKER, 0, MARKER.length);
    }

    private void add(int partition, long offset, byte[] key, ChangeContent content) {
        if (partition >= nextOffsets.length()) {
            // TableKeeper replaces the table when partitions are added.
            return;
        }
        long number = nextNumber;
        int slot = (int) (number % slots.length());
        Entry replaced = slots.get(slot);
        if (replaced != null) {
            advanceCoverage(replaced.change());
        }
        int hash = hash(key);
        long previousInChain = lastByHash[hash] - 1;
        if (content.isErased()) {
            previousInChain = withholdChanges(key, previousInChain);
        }
        slots.set(slot, new Entry(number, new Change(partition, offset, content), key, previousInChain));
        lastByHash[hash] = number + 1;
        // In this order: a reader that sees the offset must find the change.
        nextNumber = number + 1;
        nextOffsets.set(partition, offset + 1);
        onChange.run();
    }

    private int hash(byte[] key) {
        return (int) Hash.of(key, seed) & lastByHash.length - 1;
    }

    /** Returns the number of changes that an erasure of this name would visit. Only the writer thread may call it. */
    int chainLength(byte[] key) {
        int length = 0;
        for (long number = lastByHash[hash(key)] - 1; number >= oldestNumber() && number != NONE; length++) {
            Entry entry = slots.get((int) (number % slots.length()));
            if (entry == null || entry.number() != number) {
                break;
            }
            number = entry.previousInChain();
        }
        return length;
    }

    private void advanceCoverage(Change removed) {
        coveredFrom.accumulateAndGet(removed.partition(), removed.offset() + 1, Math::max);
    }

    /**
     * Withholds the changes of a name, walking back the chain from the change {@code newest}.
     *
     * @return the number of the newest change of another name in the chain; {@link #NONE} if there is none
     */
    private long withholdChanges(byte[] key, long newest) {
        long newestOfOtherName = NONE;
        for (long number = newest; number >= oldestNumber() && number != NONE; ) {
            int slot = (int) (number % slots.length());
            Entry entry = slots.get(slot);
            if (entry == null || entry.number() != number) {
                break;
            }
            if (Arrays.equals(entry.key(), key)) {
                Change change = entry.change();
                Change withheld = Change.withheld(change.partition(), change.offset());
                // Fails if forgetBefore has just removed the change, which is as good.
                slots.compareAndSet(slot, entry, new Entry(number, withheld, NO_KEY, entry.previousInChain()));
            } else if (newestOfOtherName == NONE && entry.key() != NO_KEY) {
                newestOfOtherName = number;
            }
            number = entry.previousInChain();
        }
        return newestOfOtherName;
    }

    /**
     * Forgets changes that are older than the age. A change may stay longer by 1/64 of the age and the time between two
     * calls. One thread calls it repeatedly.
     */
    public void forgetOlderThan(Duration age, Instant now) {
        Mark newest = marks.peekLast();
        if (newest == null || !now.isBefore(newest.at().plus(age.dividedBy(MARKS_PER_AGE)))) {
            marks.add(new Mark(now, nextNumber));
        }
        while (!marks.isEmpty() && !marks.getFirst().at().plus(age).isAfter(now)) {
            forgetBefore(marks.removeFirst().nextNumber());
        }
    }

    private void forgetBefore(long endNumber) {
        for (long number = oldestNumber(); number < endNumber; number++) {
            int slot = (int) (number % slots.length());
            Entry entry = slots.get(slot);
            if (entry != null && entry.number() == number) {
                advanceCoverage(entry.change());
                firstRetained = number + 1;
                // Fails if a later change has just replaced this one, or if an erasure has just withheld it.
                slots.compareAndSet(slot, entry, null);
            }
        }
        firstRetained = Math.max(firstRetained, endNumber);
    }

    /**
     * Notes that the table has read a partition up to this offset; not every record was a change. The thread that
     * writes the table calls it.
     */
    @Override
    public void reached(int partition, long offset) {
        if (partition < nextOffsets.length() && offset > nextOffsets.get(partition)) {
            nextOffsets.set(partition, offset);
        }
    }

    /**
     * Notes that the ring had every change of the topic at that time. One thread calls it every few seconds. A change
     * id contains this time, so that an id can be rejected if tombstones after it may be gone from the topic.
     */
    @Override
    public void completeAt(Instant time) {
        completeAtSeconds = Math.max(completeAtSeconds, time.getEpochSecond());
    }

    /**
     * Returns the id of a subscriber that has all changes so far. Rows that are read from the table after this call
     * include at least these changes. Any thread may call it.
     */
    public ChangeId currentId() {
        // Read in this order, so that the offsets include every change up to that time.
        long seconds = completeAtSeconds;
        return ChangeId.of(topicHash, seconds, nextOffsets());
    }

    int topicHash() {
        return topicHash;
    }

    int partitionCount() {
        return nextOffsets.length();
    }

    /** The last time at which the ring had every change of the topic, in seconds since 1970. */
    long completeAtSeconds() {
        return completeAtSeconds;
    }

    /** The number that the next change will get. */
    long nextNumber() {
        return nextNumber;
    }

    /** The number of the oldest change, which the writer may have just replaced. */
    long oldestNumber() {
        return Math.max(firstRetained, nextNumber - slots.length());
    }

    /** Returns the change with this number; null if it was replaced or forgotten. */
    @Nullable
    Change get(long number) {
        Entry entry = slots.get((int) (number % slots.length()));
        return entry != null && entry.number() == number ? entry.change() : null;
    }

    /**
     * Returns, by partition, the offset before which every change was added. A caller must read these offsets before
     * {@link #nextNumber}: every change before these offsets then has a smaller number.
     */
    long[] nextOffsets() {
        long[] copy = new long[nextOffsets.length()];
        for (int i = 0; i < copy.length; i++) {
            copy[i] = nextOffsets.get(i);
        }
        return copy;
    }

    /**
     * Whether the ring has every change at or after these offsets. A caller must read {@link #oldestNumber} before this
     * call, and then read the changes from that number on. In the other order, a change could be missed.
     */
    boolean covers(long[] offsets) {
        if (offsets.length != coveredFrom.length()) {
            return false;
        }
        for (int i = 0; i < offsets.length; i++) {
            if (offsets[i] < coveredFrom.get(i)) {
                return false;
            }
        }
        return true;
    }
}
