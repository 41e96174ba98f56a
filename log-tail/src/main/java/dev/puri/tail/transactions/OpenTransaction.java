package dev.puri.tail.transactions;

import java.time.Duration;
import java.time.Instant;
import org.apache.kafka.clients.admin.TransactionState;
import org.jspecify.annotations.Nullable;

/**
 * An open transaction that a partition waits for.
 *
 * @param lastWrite the timestamp of the producer's last record in the partition
 * @param coordinated the transaction as its coordinator reports it; null if it was not reported
 */
record OpenTransaction(
        long producerId,
        int producerEpoch,
        Instant lastWrite,
        @Nullable Coordinated coordinated) {
    /**
     * The maximum time from the timeout of a transaction to its abort. The coordinator looks for such transactions
     * every 10 s ({@code transaction.abort.timed.out.transaction.cleanup.interval.ms}), and the markers take a moment.
     */
    static final Duration ABORT_DELAY = Duration.ofSeconds(20);

    /** A partition that waits this long for a transaction that its coordinator has ended will wait for ever. */
    static final Duration MARKER_DELAY = Duration.ofSeconds(10);

    /**
     * The current transaction of the producer at its coordinator, which may be a later one than the open transaction.
     *
     * @param timeout the time after which the coordinator aborts the transaction
     * @param hasPartition whether the transaction writes to the partition
     */
    record Coordinated(String transactionalId, TransactionState state, Duration timeout, boolean hasPartition) {}

    /** The state of an open transaction, as far as its coordinator reports it. */
    enum CoordinatorView {
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
    static CoordinatorView coordinatorView(@Nullable OpenTransaction transaction) {
        Coordinated coordinated = transaction == null ? null : transaction.coordinated();
        if (coordinated == null) {
            return CoordinatorView.UNKNOWN;
        }
        return switch (coordinated.state()) {
            case COMPLETE_COMMIT -> CoordinatorView.COMMITTED;
            case COMPLETE_ABORT -> CoordinatorView.ABORTED;
            case EMPTY -> CoordinatorView.FORGOTTEN;
            case ONGOING -> coordinated.hasPartition() ? CoordinatorView.ONGOING : CoordinatorView.FORGOTTEN;
            case PREPARE_COMMIT -> coordinated.hasPartition() ? CoordinatorView.COMMITTING : CoordinatorView.FORGOTTEN;
            case PREPARE_ABORT, PREPARE_EPOCH_FENCE ->
                coordinated.hasPartition() ? CoordinatorView.ABORTING : CoordinatorView.FORGOTTEN;
            case UNKNOWN -> CoordinatorView.UNKNOWN;
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
        Coordinated coordinated = transaction == null ? null : transaction.coordinated();
        return switch (coordinatorView(transaction)) {
            case COMMITTED, ABORTED, FORGOTTEN -> MARKER_DELAY;
            case ONGOING, COMMITTING, ABORTING, UNKNOWN ->
                (coordinated == null ? maxTimeout : coordinated.timeout()).plus(ABORT_DELAY);
        };
    }
}
