package dev.puri.cli;

import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;

/**
 * Brings together what arrives apart and in any order: where an event stands, its outcome, and, when it
 * was refused, what the rejection says. Many outcomes are of other people's events.
 *
 * <p>Outcome and acknowledgement race: an outcome may be read before the producer has told where its
 * event stands. Such outcomes are kept by offset. Acknowledgements come in the order of offsets within
 * a partition, so whatever lies below one and was not expected is somebody else's and dropped; what lies
 * above is bounded by {@link #MAX_EARLY} a partition.
 *
 * <p>Not thread-safe.
 */
final class Expectations {
    static final int MAX_EARLY = 100_000;
    static final int MAX_EARLY_DETAILS = 10_000;

    private final Listener listener;
    private final Map<TopicPartition, Partition> partitions = new HashMap<>();
    private final Map<Position, Refused> refused = new LinkedHashMap<>();
    private final Map<Position, String> earlyDetails = new LinkedHashMap<>();
    private int waiting;

    /** Hears of each expected event once. */
    interface Listener {
        /**
         * @param line what the event was expected as
         * @param detail what the rejection says; empty unless the event was refused, and where its
         *     rejection is not known
         */
        void settled(long line, Outcome outcome, String detail);
    }

    /** By offset. */
    private static final class Partition {
        final Map<Long, Long> lines = new HashMap<>();
        final NavigableMap<Long, Outcome> early = new TreeMap<>();
    }

    private record Refused(long line, Outcome outcome) {}

    Expectations(Listener listener) {
        this.listener = listener;
    }

    /** How many events have no outcome yet. */
    int waiting() {
        return waiting;
    }

    /** Whether a refusal still lacks what its rejection says. */
    boolean lacksDetails() {
        return !refused.isEmpty();
    }

    /** An event of ours stands here; within a partition in the order of offsets. */
    void expect(Position position, long line) {
        Partition partition = partition(position);
        Outcome early = partition.early.remove(position.offset());
        partition.early.headMap(position.offset(), true).clear();
        if (early == null) {
            partition.lines.put(position.offset(), line);
            waiting++;
        } else {
            settle(position, line, early);
        }
    }

    /** Returns whether it was expected. */
    boolean outcome(Position position, Outcome outcome) {
        Partition partition = partition(position);
        Long line = partition.lines.remove(position.offset());
        if (line != null) {
            waiting--;
            settle(position, line, outcome);
            return true;
        }
        early(position, outcome);
        return false;
    }

    /** Takes a rejection of the event at this position. Some refused events have no record of identities. */
    void rejection(Position position, Outcome outcome, String detail) {
        Refused ours = refused.remove(position);
        if (ours != null) {
            listener.settled(ours.line(), ours.outcome(), detail);
            return;
        }
        Long line = partition(position).lines.remove(position.offset());
        if (line != null) {
            waiting--;
            listener.settled(line, outcome, detail);
            return;
        }
        early(position, outcome);
        earlyDetails.put(position, detail);
        if (earlyDetails.size() > MAX_EARLY_DETAILS) {
            earlyDetails.remove(earlyDetails.keySet().iterator().next());
        }
    }

    private void early(Position position, Outcome outcome) {
        Partition partition = partition(position);
        partition.early.put(position.offset(), outcome);
        if (partition.early.size() > MAX_EARLY) {
            partition.early.pollFirstEntry();
        }
    }

    /** Tells of all refusals that lack details without them. */
    void tellWithoutDetails() {
        refused.values().forEach(each -> listener.settled(each.line(), each.outcome(), ""));
        refused.clear();
    }

    private void settle(Position position, long line, Outcome outcome) {
        String detail = earlyDetails.remove(position);
        if (outcome.kind() == Outcome.Kind.REFUSED && detail == null) {
            refused.put(position, new Refused(line, outcome));
        } else {
            listener.settled(line, outcome, detail == null ? "" : detail);
        }
    }

    private Partition partition(Position position) {
        return partitions.computeIfAbsent(
                new TopicPartition(position.topic(), position.partition()), none -> new Partition());
    }
}
