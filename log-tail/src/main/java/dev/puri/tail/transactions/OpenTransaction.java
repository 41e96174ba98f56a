package dev.puri.tail.transactions;

import java.time.Duration;
import java.time.Instant;
import org.apache.kafka.clients.admin.TransactionState;
import org.jspecify.annotations.Nullable;

/**
 * The transaction that a partition waits for.
 *
 * @param lastWrite the timestamp of the producer's last record in the partition
 * @param coordinator the state at its coordinator; null when that was not reported
 */
record OpenTransaction(
        long producerId,
        int producerEpoch,
        Instant lastWrite,
        @Nullable Coordinator coordinator) {
    /**
     * From the end of a transaction's time-out to its abort: the coordinator looks for such transactions every 10 s
     * ({@code transaction.abort.timed.out.transaction.cleanup.interval.ms}), and its markers take a moment.
     */
    static final Duration ABORTED_WITHIN = Duration.ofSeconds(20);

    /** Since when a partition waits at least for a transaction that its coordinator has ended. */
    static final Duration ENDED_WITHIN = Duration.ofSeconds(10);

    /**
     * A transaction as its coordinator has it now, which may be a later one of the same producer.
     *
     * @param timeout after which it is aborted
     * @param hasPartition whether the partition is one of those that it writes to
     */
    record Coordinator(String transactionalId, TransactionState state, Duration timeout, boolean hasPartition) {}

    /** The state of a transaction at its coordinator. */
    enum Outlook {
        /** It was committed; no marker will come any more. */
        COMMITTED,
        /** It was aborted; no marker will come any more. */
        ABORTED,
        /** The coordinator has no such transaction; nobody knows how it ended elsewhere. */
        FORGOTTEN,
        /** It is under way. */
        ONGOING,
        /** It is being committed, and the marker is to come. */
        COMMITTING,
        /** It is being aborted, and the marker is to come. */
        ABORTING,
        /** The coordinator did not report its state. */
        UNKNOWN
    }

    static Outlook outlook(@Nullable OpenTransaction transaction) {
        Coordinator known = transaction == null ? null : transaction.coordinator();
        if (known == null) {
            return Outlook.UNKNOWN;
        }
        return switch (known.state()) {
            case COMPLETE_COMMIT -> Outlook.COMMITTED;
            case COMPLETE_ABORT -> Outlook.ABORTED;
            case EMPTY -> Outlook.FORGOTTEN;
            case ONGOING -> known.hasPartition() ? Outlook.ONGOING : Outlook.FORGOTTEN;
            case PREPARE_COMMIT -> known.hasPartition() ? Outlook.COMMITTING : Outlook.FORGOTTEN;
            case PREPARE_ABORT, PREPARE_EPOCH_FENCE -> known.hasPartition() ? Outlook.ABORTING : Outlook.FORGOTTEN;
            case UNKNOWN -> Outlook.UNKNOWN;
        };
    }

    /**
     * How long a partition may wait for a transaction before that is taken to hang. A transaction that its coordinator
     * has ended will never end here; any other has its time-out and until it is aborted.
     *
     * @param transaction null when not even its producer was reported
     * @param longest the longest time-out that brokers allow
     */
    static Duration mayTake(@Nullable OpenTransaction transaction, Duration longest) {
        Coordinator known = transaction == null ? null : transaction.coordinator();
        return switch (outlook(transaction)) {
            case COMMITTED, ABORTED, FORGOTTEN -> ENDED_WITHIN;
            case ONGOING, COMMITTING, ABORTING, UNKNOWN ->
                (known == null ? longest : known.timeout()).plus(ABORTED_WITHIN);
        };
    }
}
