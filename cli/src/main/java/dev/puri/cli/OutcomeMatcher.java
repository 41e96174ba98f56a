package dev.puri.cli;

import dev.puri.cli.io.LogReader;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;

/**
 * Matches the positions of published events with their outcomes and with the rejections of refused events. Positions,
 * outcomes and rejections arrive in any order, among many outcomes of events of other producers.
 *
 * <p>An outcome may be read before the brokers acknowledge the event and its position becomes known. Such early
 * outcomes are stored by offset. Acknowledgements arrive in the order of offsets within a partition. So an unexpected
 * outcome below an acknowledged offset belongs to another producer and is dropped. At most {@link #MAX_EARLY} early
 * outcomes are stored for each partition.
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
    private int waitingCount;

    /** Receives the outcomes. */
    interface Listener {
        /**
         * Called once for each expected event.
         *
         * @param line the number of the event's input line, as passed to {@link #expect}
         * @param detail the detail of the rejection; empty if the event was not refused or its rejection is unknown
         */
        void settled(long line, ReportedOutcome outcome, String detail);
    }

    /** The line numbers of the expected events of a partition, and its early outcomes, both by offset. */
    private static final class Partition {
        final Map<Long, Long> lines = new HashMap<>();
        final NavigableMap<Long, ReportedOutcome> earlyOutcomes = new TreeMap<>();
    }

    /** A refused event whose rejection has not been read yet. */
    private record PendingRefusal(long line, ReportedOutcome outcome) {}

    OutcomeMatcher(Listener listener) {
        this.listener = listener;
    }

    /** Returns the number of expected events without an outcome. */
    int waitingCount() {
        return waitingCount;
    }

    /** Whether a refused event waits for its rejection. */
    boolean lacksDetails() {
        return !pendingRefusals.isEmpty();
    }

    /**
     * Registers a published event. Within a partition, events must be registered in the order of offsets.
     *
     * @param line the number of the event's input line
     */
    void expect(Position position, long line) {
        Partition partition = partition(position);
        ReportedOutcome earlyOutcome = partition.earlyOutcomes.remove(position.offset());
        partition.earlyOutcomes.headMap(position.offset(), true).clear();
        if (earlyOutcome == null) {
            partition.lines.put(position.offset(), line);
            waitingCount++;
        } else {
            settle(position, line, earlyOutcome);
        }
    }

    /** Adds the outcome of an event. Returns whether the event was expected. */
    boolean addOutcome(Position position, ReportedOutcome outcome) {
        Partition partition = partition(position);
        Long line = partition.lines.remove(position.offset());
        if (line != null) {
            waitingCount--;
            settle(position, line, outcome);
            return true;
        }
        storeEarly(position, outcome);
        return false;
    }

    /**
     * Adds a rejection. It counts as an outcome too, because for some refused events {@code puri.identities.v1} has no
     * record.
     */
    void addRejection(Position position, ReportedOutcome outcome, String detail) {
        PendingRefusal refusal = pendingRefusals.remove(position);
        if (refusal != null) {
            listener.settled(refusal.line(), refusal.outcome(), detail);
            return;
        }
        Long line = partition(position).lines.remove(position.offset());
        if (line != null) {
            waitingCount--;
            listener.settled(line, outcome, detail);
            return;
        }
        storeEarly(position, outcome);
        earlyDetails.put(position, detail);
        if (earlyDetails.size() > MAX_EARLY_DETAILS) {
            earlyDetails.remove(earlyDetails.keySet().iterator().next());
        }
    }

    private void storeEarly(Position position, ReportedOutcome outcome) {
        Partition partition = partition(position);
        partition.earlyOutcomes.put(position.offset(), outcome);
        if (partition.earlyOutcomes.size() > MAX_EARLY) {
            partition.earlyOutcomes.pollFirstEntry();
        }
    }

    /** Settles the refused events that wait for their rejections, with empty details. */
    void settleWithoutDetails() {
        pendingRefusals.values().forEach(refusal -> listener.settled(refusal.line(), refusal.outcome(), ""));
        pendingRefusals.clear();
    }

    private void settle(Position position, long line, ReportedOutcome outcome) {
        String detail = earlyDetails.remove(position);
        if (outcome.kind() == Outcome.Kind.REFUSED && detail == null) {
            pendingRefusals.put(position, new PendingRefusal(line, outcome));
        } else {
            listener.settled(line, outcome, detail == null ? "" : detail);
        }
    }

    private Partition partition(Position position) {
        return partitions.computeIfAbsent(LogReader.partitionOf(position), none -> new Partition());
    }
}
