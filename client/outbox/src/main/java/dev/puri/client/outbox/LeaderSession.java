package dev.puri.client.outbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes rows while its relay is the leader.
 *
 * <p>Rows are sent in waves. A wave has at most one row of each pURI. The next wave begins when all rows of the
 * previous wave are acknowledged or failed. So if the broker refuses a row, no later row of its pURI has been sent yet.
 * After a wave its published rows are deleted, on the connection that holds the relay's lock. So a relay that has lost
 * the lock fails after at most one wave, and the relay that takes over from a killed one repeats at most one event of
 * each pURI.
 *
 * <p>A row that cannot be published moves to the table of blocked rows. As long as this table has rows of a pURI, the
 * later rows of the pURI move there too.
 */
final class LeaderSession implements AutoCloseable {
    /** Maximum number of rows in memory; with payloads of the maximum size these take 128 MiB. */
    static final int BATCH_SIZE = 256;

    /** Time limit of a whole wave. The publisher fails each event earlier, unless delivery.timeout.ms is longer. */
    static final Duration WAVE_TIMEOUT = Duration.ofSeconds(150);

    private static final Logger LOG = LoggerFactory.getLogger(OutboxRelay.class);

    private final RelaySettings settings;
    private final Connection connection;
    private final OutboxTables tables;
    private final RowPublisher publisher;
    private final BooleanSupplier isClosing;
    private boolean isClosed;

    /**
     * @param publisher is closed with this session
     * @param isClosing returns true if the relay is being closed; then no further wave begins
     */
    LeaderSession(
            RelaySettings settings,
            Connection connection,
            OutboxTables tables,
            RowPublisher publisher,
            BooleanSupplier isClosing) {
        this.settings = settings;
        this.connection = connection;
        this.tables = tables;
        this.publisher = publisher;
        this.isClosing = isClosing;
    }

    /** See {@link OutboxTables#addMissingRetryTimes}. */
    synchronized void addMissingRetryTimes() throws SQLException {
        requireOpen();
        tables.addMissingRetryTimes(connection);
    }

    /**
     * Publishes the first rows of the outbox.
     *
     * @return the number of rows read
     * @throws RelayException if a row failed with an error that may affect all rows, such as an unreachable broker
     */
    synchronized int poll() throws SQLException, InterruptedException {
        requireOpen();
        List<OutboxRow> rows = tables.firstRows(connection, BATCH_SIZE);
        publishInWaves(rows);
        return rows.size();
    }

    /**
     * Publishes the rows with these numbers that are still in the outbox. When the relay is being closed, the remaining
     * rows stay in the outbox.
     *
     * @throws RelayException if a row failed with an error that may affect all rows, such as an unreachable broker
     */
    void publishRowsWithSeqs(Iterable<List<Long>> batches) throws SQLException, InterruptedException {
        for (List<Long> batch : batches) {
            synchronized (this) {
                requireOpen();
                publishInWaves(tables.rowsWithSeqs(connection, batch));
            }
        }
    }

    private void publishInWaves(List<OutboxRow> rows) throws SQLException, InterruptedException {
        if (rows.isEmpty()) {
            return;
        }
        Set<String> blockedPuris = new HashSet<>(tables.blockedPurisOf(connection, rows));
        List<OutboxRow> unsent = new ArrayList<>(rows);
        while (!unsent.isEmpty() && !isClosing.getAsBoolean()) {
            List<OutboxRow> rowsOfBlockedPuris =
                    removeMatching(unsent, row -> blockedPuris.contains(row.aggregateid()));
            if (!rowsOfBlockedPuris.isEmpty()) {
                tables.moveToBlocked(connection, rowsOfBlockedPuris);
            }
            Set<String> purisInWave = new HashSet<>();
            List<OutboxRow> wave = removeMatching(unsent, row -> purisInWave.add(row.aggregateid()));
            WaveResult result = publish(wave);
            if (!result.published().isEmpty()) {
                tables.delete(connection, result.published());
            }
            if (!result.refused().isEmpty()) {
                tables.moveToBlocked(connection, List.copyOf(result.refused().keySet()));
                for (Map.Entry<OutboxRow, Throwable> entry : result.refused().entrySet()) {
                    recordFailedAttempt(entry.getKey(), entry.getValue(), 1);
                    blockedPuris.add(entry.getKey().aggregateid());
                }
            }
            result.throwIfPublishingFailed();
        }
    }

    /**
     * The result of {@link #runPass}.
     *
     * @param publishedRetries number of blocked rows that were published; 0 if the retries failed
     * @param polled number of rows that were read from the outbox
     * @param problem why the retries failed, although rows of the outbox were handled; null if they did not fail
     */
    record Pass(int publishedRetries, int polled, @Nullable RelayException problem) {}

    /**
     * Retries the blocked rows that are due, and then publishes the first rows of the outbox. If the retries fail, the
     * rows of the outbox are still tried: the retried rows may all belong to one unavailable partition.
     *
     * @param polls false if a feed reports the rows of the outbox, so that polling is not needed
     * @throws RelayException if a row failed with an error that may affect all rows, such as an unreachable broker
     */
    Pass runPass(boolean polls) throws SQLException, InterruptedException {
        int publishedRetries = 0;
        RelayException problem = null;
        try {
            publishedRetries = retryDue();
        } catch (RelayException e) {
            problem = e;
        }
        int polled = polls || problem != null ? poll() : 0;
        if (problem != null && polled == 0) {
            throw problem;
        }
        return new Pass(publishedRetries, polled, problem);
    }

    /**
     * Retries the blocked rows that are due, at most one of each pURI.
     *
     * @return the number of rows that were published
     * @throws RelayException if a row failed with an error that may affect all rows, such as an unreachable broker
     */
    synchronized int retryDue() throws SQLException, InterruptedException {
        requireOpen();
        List<OutboxRow> dueRows = tables.dueRows(connection, System.currentTimeMillis(), BATCH_SIZE);
        WaveResult result = publish(dueRows);
        for (OutboxRow row : result.published()) {
            tables.deleteBlocked(connection, row);
        }
        // Failed rows get a later retry time too. Otherwise they would still be due, and would also end the next
        // session.
        for (Map<OutboxRow, Throwable> errors : List.of(result.refused(), result.failed())) {
            for (Map.Entry<OutboxRow, Throwable> entry : errors.entrySet()) {
                recordFailedAttempt(entry.getKey(), entry.getValue(), tables.attempts(connection, entry.getKey()) + 1);
            }
        }
        result.throwIfPublishingFailed();
        return result.published().size();
    }

    private void recordFailedAttempt(OutboxRow row, Throwable error, int attempts) throws SQLException {
        String reason = RowPublisher.description(error);
        long retryMillis =
                System.currentTimeMillis() + settings.backoff(attempts).toMillis();
        tables.recordFailure(connection, row, reason, retryMillis);
        LOG.warn(
                "Event {} of {} cannot be published and blocks the later events of its pURI (attempt {}): {}",
                row.id(),
                row.aggregateid(),
                attempts,
                reason);
    }

    /**
     * The result of a wave.
     *
     * @param refused rows that failed with an error of the row, its topic or its partition
     * @param failed rows that failed with an error that may affect all rows
     */
    record WaveResult(List<OutboxRow> published, Map<OutboxRow, Throwable> refused, Map<OutboxRow, Throwable> failed) {
        @Nullable
        Throwable failure() {
            return failed.isEmpty() ? null : failed.values().iterator().next();
        }

        void throwIfPublishingFailed() {
            Throwable failure = failure();
            if (failure != null) {
                throw new RelayException("publishing failed: " + failure, failure);
            }
        }
    }

    private WaveResult publish(List<OutboxRow> wave) throws SQLException, InterruptedException {
        if (!wave.isEmpty()) {
            tables.requireLock(connection);
        }
        return awaitResult(publisher.publish(wave), WAVE_TIMEOUT.toNanos());
    }

    /**
     * Waits until all rows of a wave are acknowledged or failed, but not longer than the timeout, because an
     * unreachable broker answers no row. If a row was acknowledged, brokers are reachable. A row that timed out then
     * counts as refused: its partition has no leader or too few replicas.
     */
    static WaveResult awaitResult(Map<OutboxRow, CompletableFuture<@Nullable Void>> sent, long timeoutNanos)
            throws InterruptedException {
        List<OutboxRow> published = new ArrayList<>();
        Map<OutboxRow, Throwable> refused = new LinkedHashMap<>();
        Map<OutboxRow, Throwable> failed = new LinkedHashMap<>();
        TimeoutException timeout = null;
        long deadlineNanos = System.nanoTime() + timeoutNanos;
        for (Map.Entry<OutboxRow, CompletableFuture<@Nullable Void>> entry : sent.entrySet()) {
            if (timeout != null && !entry.getValue().isDone()) {
                failed.put(entry.getKey(), timeout);
                continue;
            }
            try {
                long remainingNanos = Math.max(0, deadlineNanos - System.nanoTime());
                entry.getValue().get(remainingNanos, TimeUnit.NANOSECONDS);
                published.add(entry.getKey());
            } catch (TimeoutException e) {
                timeout = e;
                failed.put(entry.getKey(), e);
            } catch (ExecutionException e) {
                Throwable error = e.getCause() == null ? e : e.getCause();
                if (RowPublisher.isRowError(error)) {
                    refused.put(entry.getKey(), error);
                } else {
                    failed.put(entry.getKey(), error);
                }
            }
        }
        if (!published.isEmpty()) {
            failed.entrySet().removeIf(entry -> {
                boolean isPartitionError = RowPublisher.mayBePartitionError(entry.getValue());
                if (isPartitionError) {
                    refused.put(entry.getKey(), entry.getValue());
                }
                return isPartitionError;
            });
        }
        return new WaveResult(published, refused, failed);
    }

    /** Removes the matching rows from a list, and returns them. */
    private static List<OutboxRow> removeMatching(List<OutboxRow> rows, Predicate<OutboxRow> matches) {
        List<OutboxRow> removed = new ArrayList<>();
        rows.removeIf(row -> matches.test(row) && removed.add(row));
        return removed;
    }

    private void requireOpen() throws SQLException {
        if (isClosed) {
            throw new SQLException("this relay is no longer the leader");
        }
    }

    /** Ends the session and closes the publisher. The connection stays open. */
    @Override
    public synchronized void close() {
        isClosed = true;
        publisher.close();
    }
}
