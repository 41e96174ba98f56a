package dev.puri.resolver.live;

import dev.puri.resolver.feed.RowChanges;
import dev.puri.resolver.table.Hash;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.tail.AvroValues;
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
 * The most recent changes of one table, in the order in which the table took them. Only the thread that writes the
 * table adds changes, and never waits; any thread reads.
 *
 * <p>Changes are numbered from 0; number n is in slot n mod capacity until n + capacity replaces it. A late reader
 * finds another change, or none, and recognises that by the number. For each partition, {@code covered} is the offset
 * from which on the ring has every change. It advances before a slot is replaced. So a reader that reads the oldest
 * number first, and {@code covered} after it, may miss coverage but never assumes too much.
 *
 * <p>An erasure removes the content of earlier changes of its name from the ring. It finds them by a chain: each change
 * has the number of the previous change whose name has the same hash. The hash is seeded, so that nobody can choose
 * names that share a chain. The erasure removes the changes of its name from the chain, so each change is visited once.
 */
public final class ChangeRing implements RowChanges {
    private static final byte[] MARKER = Topics.MARKER.getBytes(StandardCharsets.US_ASCII);

    private static final byte[] NO_KEY = {};
    private static final long NONE = -1;

    /** How many times are remembered to find changes that are too old. */
    private static final int MARKS = 64;

    private final int topic;
    private final AvroValues<IdentityRow> values;
    private final Runnable onChange;
    private final AtomicReferenceArray<@Nullable Numbered> slots;

    /** By partition, the offset from which on the ring has every change. */
    private final AtomicLongArray covered;

    /** By partition, the offset before which every change was added. */
    private final AtomicLongArray next;

    /** The number of the next change. */
    private volatile long head;

    /** The last time, in seconds, at which no change was missing. */
    private volatile long completeAt;

    /** Of each hash of names the number of the last change, and 1; 0 when there was none. Of the thread that adds. */
    private final long[] lastByHash;

    private final long seed = ThreadLocalRandom.current().nextLong();

    /** Changes with smaller numbers are too old. */
    private volatile long tooOld;

    /**
     * How far the ring was at some times, the newest last; of the thread that {@linkplain #forgetOlderThan forgets}.
     */
    private final Deque<Mark> marks = new ArrayDeque<>();

    /**
     * @param key the name; empty when the change is withheld
     * @param before the number of the change before whose name has the same hash; -1 when there is none
     */
    private record Numbered(long number, Change change, byte[] key, long before) {}

    private record Mark(Instant at, long head) {}

    /**
     * @param begins by partition, the offset from which on every change will be added
     * @param completeAt when the topic had no more than that
     * @param values reads rows that are added unread
     * @param onChange called after each change; must be quick
     */
    ChangeRing(
            Uuid topicId,
            long[] begins,
            Instant completeAt,
            int capacity,
            AvroValues<IdentityRow> values,
            Runnable onChange) {
        this.topic = ChangeId.fold(topicId);
        this.values = values;
        this.onChange = onChange;
        this.slots = new AtomicReferenceArray<>(capacity);
        this.lastByHash = new long[Integer.highestOneBit(capacity) * 2];
        this.covered = new AtomicLongArray(begins);
        this.next = new AtomicLongArray(begins);
        this.completeAt = completeAt.getEpochSecond();
    }

    /**
     * Adds a change. Called by the thread that writes the table, after readers of the table can see the change. Takes
     * no lock and writes no JSON.
     *
     * @param offset of the record in {@code puri.identities.v1}; it grows within a partition
     * @param row the row after the change; null when there is none
     */
    @Override
    public void changed(int partition, long offset, Puri puri, @Nullable Row row) {
        if (!Topics.isMarker(puri)) {
            add(partition, offset, puri.toBytes(), new Content.Known(puri, row));
        }
    }

    /**
     * Adds a change whose record is decoded only if a subscriber needs it; otherwise the same.
     *
     * @param key of the record; kept, not copied
     * @param value of the record; null for a tombstone
     * @param token the record's header {@code position}; null when it has none
     */
    @Override
    public void changed(int partition, long offset, byte[] key, byte @Nullable [] value, byte @Nullable [] token) {
        if (!isMarker(key)) {
            add(partition, offset, key, new Content.Unread(key, value, token, values));
        }
    }

    private static boolean isMarker(byte[] key) {
        return key.length >= MARKER.length && Arrays.equals(key, 0, MARKER.length, MARKER, 0, MARKER.length);
    }

    private void add(int partition, long offset, byte[] key, Content content) {
        if (partition >= next.length()) {
            // TableKeeper replaces the table when partitions are added.
            return;
        }
        long number = head;
        int slot = (int) (number % slots.length());
        Numbered oldest = slots.get(slot);
        if (oldest != null) {
            uncover(oldest.change());
        }
        int hash = hash(key);
        long before = lastByHash[hash] - 1;
        if (content.isErased()) {
            before = withhold(before, key);
        }
        slots.set(slot, new Numbered(number, new Change(partition, offset, content), key, before));
        lastByHash[hash] = number + 1;
        // In this order: a reader that sees the offset must find the change.
        head = number + 1;
        next.set(partition, offset + 1);
        onChange.run();
    }

    private int hash(byte[] key) {
        return (int) Hash.of(key, seed) & lastByHash.length - 1;
    }

    /** How many changes an erasure of this name walks over; by the thread that adds. */
    int chainLength(byte[] key) {
        int length = 0;
        for (long number = lastByHash[hash(key)] - 1; number >= oldest() && number != NONE; length++) {
            Numbered found = slots.get((int) (number % slots.length()));
            if (found == null || found.number() != number) {
                break;
            }
            number = found.before();
        }
        return length;
    }

    private void uncover(Change gone) {
        covered.accumulateAndGet(gone.partition(), gone.offset() + 1, Math::max);
    }

    /**
     * Forgets what was said under a name, from this number of its hash's chain on; returns what is left of the chain.
     */
    private long withhold(long last, byte[] key) {
        long left = NONE;
        for (long number = last; number >= oldest() && number != NONE; ) {
            int slot = (int) (number % slots.length());
            Numbered found = slots.get(slot);
            if (found == null || found.number() != number) {
                break;
            }
            if (Arrays.equals(found.key(), key)) {
                Change change = found.change();
                Change withheld = Change.withheld(change.partition(), change.offset());
                // Unless it has become too old just now.
                slots.compareAndSet(slot, found, new Numbered(number, withheld, NO_KEY, found.before()));
            } else if (left == NONE && found.key() != NO_KEY) {
                left = number;
            }
            number = found.before();
        }
        return left;
    }

    /**
     * Forgets changes that were added before that time, or a little later. Called repeatedly by one thread.
     */
    public void forgetOlderThan(Duration age, Instant now) {
        Mark newest = marks.peekLast();
        if (newest == null || !now.isBefore(newest.at().plus(age.dividedBy(MARKS)))) {
            marks.add(new Mark(now, head));
        }
        while (!marks.isEmpty() && !marks.getFirst().at().plus(age).isAfter(now)) {
            forgetBefore(marks.removeFirst().head());
        }
    }

    private void forgetBefore(long end) {
        for (long number = oldest(); number < end; number++) {
            int slot = (int) (number % slots.length());
            Numbered found = slots.get(slot);
            if (found != null && found.number() == number) {
                uncover(found.change());
                tooOld = number + 1;
                // Unless another change has just replaced it, or it is withheld.
                slots.compareAndSet(slot, found, null);
            }
        }
        tooOld = Math.max(tooOld, end);
    }

    /**
     * Notes that the table has all records of a partition before an offset, changes or not. Called by the thread that
     * writes the table.
     */
    @Override
    public void reached(int partition, long offset) {
        if (partition < next.length() && offset > next.get(partition)) {
            next.set(partition, offset);
        }
    }

    /**
     * Notes that no change was missing at that time. Called by one thread, every few seconds. Ids contain the time, so
     * that an id is recognised that is older than the topic's tombstones.
     */
    @Override
    public void completeAt(Instant time) {
        completeAt = Math.max(completeAt, time.getEpochSecond());
    }

    /**
     * The id after the last change so far. A change that is not yet visible in the table comes after it, so rows that
     * are read after this call are at least as new as the id. May be called by any thread.
     */
    public ChangeId now() {
        // Read in this order, so that the offsets include everything up to the time of completeness.
        long complete = completeAt;
        return ChangeId.of(topic, complete, next());
    }

    int topic() {
        return topic;
    }

    int partitions() {
        return next.length();
    }

    long completeAt() {
        return completeAt;
    }

    /** The number of the next change. */
    long head() {
        return head;
    }

    /** The number of the oldest change, which may have been replaced just now. */
    long oldest() {
        return Math.max(tooOld, head - slots.length());
    }

    /** The change of that number; null when it was replaced. */
    @Nullable
    Change at(long number) {
        Numbered found = slots.get((int) (number % slots.length()));
        return found != null && found.number() == number ? found.change() : null;
    }

    /**
     * By partition, the offset before which every change was added. Read it before the {@link #head}: then no change
     * before these offsets has the head's number or a later one.
     */
    long[] next() {
        long[] copy = new long[next.length()];
        for (int i = 0; i < copy.length; i++) {
            copy[i] = next.get(i);
        }
        return copy;
    }

    /**
     * Whether the ring has every change from these offsets on. Call it after {@link #oldest}, from which on the changes
     * are read.
     */
    boolean covers(long[] from) {
        if (from.length != covered.length()) {
            return false;
        }
        for (int i = 0; i < from.length; i++) {
            if (from[i] < covered.get(i)) {
                return false;
            }
        }
        return true;
    }
}
