package dev.puri.resolver.live;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.tail.AvroValues;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * The last changes that one table has seen, in the order in which it saw them. The one thread that
 * writes the table adds, and is never held up; any thread looks.
 *
 * <p>Changes are numbered from 0; number n lies in slot n mod capacity until n + capacity takes its
 * place. A reader that is too late so finds another change, or none, and sees it by the number. Of each
 * partition it is known from which offset on the ring has every change ({@code covered}); that moves on
 * before a slot is taken, so who looks for the oldest number first and at {@code covered} after it can
 * be wrong only in thinking that too little is there.
 */
public final class ChangeRing {
    private static final byte[] MARKER = Topics.MARKER.getBytes(StandardCharsets.US_ASCII);
    private static final byte[] APPLIED = Outcome.APPLIED.toString().getBytes(StandardCharsets.US_ASCII);

    private final int topic;
    private final AvroValues<IdentityRow> values;
    private final Runnable onChange;
    private final AtomicReferenceArray<@Nullable Numbered> slots;

    /** By partition, the offset from which on every change is here. */
    private final AtomicLongArray covered;

    /** By partition, the offset before which every change has been added. */
    private final AtomicLongArray next;

    /** The number of the next change. */
    private volatile long head;

    /** The second at which all had been added that there was. */
    private volatile long completeAt;

    private record Numbered(long number, Change change) {}

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
        this.covered = new AtomicLongArray(begins);
        this.next = new AtomicLongArray(begins);
        this.completeAt = completeAt.getEpochSecond();
    }

    /**
     * Whether a record of {@code puri.identities.v1} says that a row changed. What only answers a refusal
     * or a repetition has the row as it was before.
     */
    public static boolean isChange(Headers headers) {
        Header last = null;
        for (Header header : headers) {
            last = header;
        }
        // The registry writes the outcome last, and says so nowhere else: of its name no text need be made.
        if (last == null || Arrays.equals(last.value(), APPLIED)) {
            return true;
        }
        Header outcome = headers.lastHeader(Outcome.HEADER);
        return outcome == null || Arrays.equals(outcome.value(), APPLIED);
    }

    /**
     * Adds a change; by the thread that writes the table, after readers of the table can see it. Takes no
     * lock and writes no JSON.
     *
     * @param offset of the record in {@code puri.identities.v1}; it grows within a partition
     * @param row what stands under the name now; null when nothing does
     */
    public void changed(int partition, long offset, Puri puri, @Nullable Row row) {
        if (!Topics.isMarker(puri)) {
            add(partition, offset, new Content.Known(puri, row));
        }
    }

    /**
     * Adds a change that is not even read before somebody wants it; otherwise the same.
     *
     * @param key of the record that the table has taken; kept, not copied
     * @param value of that record; null when nothing stands under the name any more
     * @param token the record's header {@code position}; null when it does not tell
     */
    public void changed(int partition, long offset, byte[] key, byte @Nullable [] value, byte @Nullable [] token) {
        if (!isMarker(key)) {
            add(partition, offset, new Content.Unread(key, value, token, values));
        }
    }

    private static boolean isMarker(byte[] key) {
        return key.length >= MARKER.length && Arrays.equals(key, 0, MARKER.length, MARKER, 0, MARKER.length);
    }

    private void add(int partition, long offset, Content content) {
        if (partition >= next.length()) {
            // The keeper of a table replaces it when partitions are added.
            return;
        }
        long number = head;
        int slot = (int) (number % slots.length());
        Numbered oldest = slots.get(slot);
        if (oldest != null) {
            covered.set(oldest.change().partition(), oldest.change().offset() + 1);
        }
        slots.set(slot, new Numbered(number, new Change(partition, offset, content)));
        // In this order: who is told that all before an offset was added must be able to find it.
        head = number + 1;
        next.set(partition, offset + 1);
        onChange.run();
    }

    /**
     * Says that the table has seen all of a partition up to an offset, whether it were changes or not; by
     * the thread that writes the table.
     */
    public void reached(int partition, long offset) {
        if (partition < next.length() && offset > next.get(partition)) {
            next.set(partition, offset);
        }
    }

    /**
     * Says that all had been added at that time which the topic then had; by one thread, every few
     * seconds. Ids tell it, so that one that has become too old for the topic's tombstones is known.
     */
    public void completeAt(Instant time) {
        completeAt = Math.max(completeAt, time.getEpochSecond());
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

    /** The number of the oldest change, or of one that has just gone. */
    long oldest() {
        return Math.max(0, head - slots.length());
    }

    /** The change of that number; null when it has gone. */
    @Nullable
    Change at(long number) {
        Numbered found = slots.get((int) (number % slots.length()));
        return found != null && found.number() == number ? found.change() : null;
    }

    /**
     * By partition, the offset before which every change has been added; to be asked for before the
     * {@link #head}, so that no change before these has the head's number or a later one.
     */
    long[] next() {
        long[] copy = new long[next.length()];
        for (int i = 0; i < copy.length; i++) {
            copy[i] = next.get(i);
        }
        return copy;
    }

    /**
     * Whether every change from these offsets on is here; to be asked after the {@link #oldest} number
     * from which on they will be read.
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
