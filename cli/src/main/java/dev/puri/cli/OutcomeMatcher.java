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
 * Matches the positions of published events, their outcomes, and the rejections of refused events. These arrive in any
 * order, and among many outcomes of other producers' events.
 *
 * <p>An outcome may be read before the producer acknowledges the event's position. Such outcomes are stored by offset.
 * Acknowledgements arrive in the order of offsets within a partition, so an unexpected outcome below an acknowledged
 * offset belongs to another producer and is dropped. At most {@link #MAX_EARLY} outcomes above it are stored per
 * partition.
 *
 * <p>Not thread-safe.
 */
final class OutcomeMatcher {
    static final int MAX_EARLY = 100_000;
    static final int MAX_EARLY_DETAILS = 10_000;

    private final Listener listener;
    private final Map<TopicPartition, Partition> partitions = new HashMap<>();
    private final Map<Position, PendingRefusal> pendingRefusals = new LinkedHashMap<>();
    private final Map<Position, String> earlyDetails = new LinkedHashMap<>();
    private int waiting;

    /** Called once for each expected event. */
    interface Listener {
        /**
         * @param line the line with which the event was expected
         * @param detail the rejection's detail; empty if the event was not refused or its rejection is unknown
         */
        void settled(long line, Outcome outcome, String detail);
    }

    /** Lines and early outcomes of a partition by offset. */
    private static final class Partition {
        final Map<Long, Long> lines = new HashMap<>();
        final NavigableMap<Long, Outcome> early = new TreeMap<>();
    }

    private record PendingRefusal(long line, Outcome outcome) {}

    OutcomeMatcher(Listener listener) {
        this.listener = listener;
    }

    /** Returns the number of expected events without an outcome. */
    int waiting() {
        return waiting;
    }

    /** Whether the rejection of a refused event is missing. */
    boolean lacksDetails() {
        return !pendingRefusals.isEmpty();
    }

    /** Registers a published event. Must be called in the order of offsets within a partition. */
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

    /** Adds an outcome; returns whether its event was expected. */
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

    /** Adds a rejection, which is also an outcome: some refused events have no record of identities. */
    void rejection(Position position, Outcome outcome, String detail) {
        PendingRefusal refusal = pendingRefusals.remove(position);
        if (refusal != null) {
            listener.settled(refusal.line(), refusal.outcome(), detail);
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

    /** Settles all refused events whose rejections are missing, with empty details. */
    void settleWithoutDetails() {
        pendingRefusals.values().forEach(each -> listener.settled(each.line(), each.outcome(), ""));
        pendingRefusals.clear();
    }

    private void settle(Position position, long line, Outcome outcome) {
        String detail = earlyDetails.remove(position);
        if (outcome.kind() == Outcome.Kind.REFUSED && detail == null) {
            pendingRefusals.put(position, new PendingRefusal(line, outcome));
        } else {
            listener.settled(line, outcome, detail == null ? "" : detail);
        }
    }

    private Partition partition(Position position) {
        return partitions.computeIfAbsent(
                new TopicPartition(position.topic(), position.partition()), none -> new Partition());
    }
}
