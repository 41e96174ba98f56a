package dev.puri.projection.transactions;

import java.time.Duration;
import java.time.Instant;
import org.apache.kafka.clients.admin.TransactionState;
import org.jspecify.annotations.Nullable;

/**
 * An open transaction that a partition waits for.
 *
 * @param lastWrite the timestamp of the producer's last record in the partition
 * @param report the report of the coordinator; null if there is none
 */
record OpenTransaction(
        long producerId,
        int producerEpoch,
        Instant lastWrite,
        @Nullable CoordinatorReport report) {
    /**
     * The maximum time from the timeout of a transaction to its abort. The coordinator looks for such transactions
     * every 10 s ({@code transaction.abort.timed.out.transaction.cleanup.interval.ms}), and the markers take a moment.
     */
    static final Duration ABORT_DELAY = Duration.ofSeconds(20);

    /** The maximum time from the end of a transaction at its coordinator until its marker is in the partition. */
    static final Duration MARKER_DELAY = Duration.ofSeconds(10);

    /**
     * The producer's current transaction at its coordinator. It may be a later transaction than the open one.
     *
     * @param timeout the time after which the coordinator aborts the transaction
     * @param hasPartition whether the transaction writes to the partition
     */
    record CoordinatorReport(String transactionalId, TransactionState state, Duration timeout, boolean hasPartition) {}

    /** The state of an open transaction, as far as its coordinator reports it. */
    enum CoordinatorState {
        /** The transaction was committed; no marker will be written any more. */
        COMMITTED,
        /** The transaction was aborted; no marker will be written any more. */
        ABORTED,
        /** The coordinator does not know the transaction, nor how it ended in other partitions. */
        FORGOTTEN,
        /** The transaction is in progress. */
        ONGOING,
        /** The transaction is being committed; the marker is not written yet. */
        COMMITTING,
        /** The transaction is being aborted; the marker is not written yet. */
        ABORTING,
        /** The coordinator did not report the state. */
        UNKNOWN
    }

    /** Returns the state at the coordinator; {@code transaction} is null if not even its producer was reported. */
    static CoordinatorState coordinatorState(@Nullable OpenTransaction transaction) {
        CoordinatorReport report = transaction == null ? null : transaction.report();
        if (report == null) {
            return CoordinatorState.UNKNOWN;
        }
        return switch (report.state()) {
            case COMPLETE_COMMIT -> CoordinatorState.COMMITTED;
            case COMPLETE_ABORT -> CoordinatorState.ABORTED;
            case EMPTY -> CoordinatorState.FORGOTTEN;
            case ONGOING -> report.hasPartition() ? CoordinatorState.ONGOING : CoordinatorState.FORGOTTEN;
            case PREPARE_COMMIT -> report.hasPartition() ? CoordinatorState.COMMITTING : CoordinatorState.FORGOTTEN;
            case PREPARE_ABORT, PREPARE_EPOCH_FENCE ->
                report.hasPartition() ? CoordinatorState.ABORTING : CoordinatorState.FORGOTTEN;
            case UNKNOWN -> CoordinatorState.UNKNOWN;
        };
    }

    /**
     * Returns how long a partition may wait for a transaction before the transaction counts as hanging. A transaction
     * that its coordinator has ended will never end in this partition. Any other transaction may take its timeout, and
     * the time until it is aborted.
     *
     * @param transaction null if not even its producer was reported
     * @param maxTimeout the maximum transaction timeout that the brokers allow; used if the coordinator did not report
     *     one
     */
    static Duration maxWait(@Nullable OpenTransaction transaction, Duration maxTimeout) {
        CoordinatorReport report = transaction == null ? null : transaction.report();
        return switch (coordinatorState(transaction)) {
            case COMMITTED, ABORTED, FORGOTTEN -> MARKER_DELAY;
            case ONGOING, COMMITTING, ABORTING, UNKNOWN ->
                (report == null ? maxTimeout : report.timeout()).plus(ABORT_DELAY);
        };
    }
}
