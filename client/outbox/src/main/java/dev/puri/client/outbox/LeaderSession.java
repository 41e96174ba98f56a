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
 * Publishes rows while its relay leads.
 *
 * <p>Rows are sent in waves. A wave has at most one row of each pURI, and the next wave begins when all rows of the last one are
 * acknowledged or failed. So no row overtakes an earlier one that the broker refuses late. After a wave its published rows are
 * deleted on the connection that holds the relay's lock. A relay that lost the lock fails there, after one wave at most, and a
 * killed relay repeats at most one event of each pURI.
 *
 * <p>A row that cannot be published moves to the table of blocked rows, and so do the later rows of its pURI as long as that table has
 * rows of it.
 */
final class LeaderSession implements AutoCloseable {
    /** Most rows in memory; with the largest payload they take 128 MiB. */
    static final int BATCH = 256;

    /** Timeout of a whole wave. The publisher fails each event earlier, unless delivery.timeout.ms is longer. */
    static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(150);

    private static final Logger LOG = LoggerFactory.getLogger(OutboxRelay.class);

    private final RelaySettings settings;
    private final Connection connection;
    private final OutboxTables tables;
    private final RowPublisher publisher;
    private final BooleanSupplier isClosing;
    private boolean isClosed;

    /**
     * @param publisher closed with this session
     * @param isClosing whether the relay is being closed, so that no further wave begins
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

    /** Makes the first blocked row of each pURI due if it has no time to retry, because a process ended between two statements. */
    synchronized void makeAllFirstDue() throws SQLException {
        requireOpen();
        tables.makeAllFirstDue(connection);
    }

    /**
     * Publishes the first rows of the outbox.
     *
     * @return number of rows read
     * @throws RelayException if nothing can be published for now
     */
    synchronized int poll() throws SQLException, InterruptedException {
        requireOpen();
        List<OutboxRow> rows = tables.first(connection, BATCH);
        publishInWaves(rows);
        return rows.size();
    }

    /**
     * Publishes those of these rows that are still in the table. Once the relay is being closed, the rest stays there.
     *
     * @throws RelayException if nothing can be published for now
     */
    void publishPresent(Iterable<List<Long>> batches) throws SQLException, InterruptedException {
        for (List<Long> batch : batches) {
            synchronized (this) {
                requireOpen();
                publishInWaves(tables.present(connection, batch));
            }
        }
    }

    private void publishInWaves(List<OutboxRow> rows) throws SQLException, InterruptedException {
        if (rows.isEmpty()) {
            return;
        }
        Set<String> blockedPuris = new HashSet<>(tables.blockedAmong(connection, rows));
        List<OutboxRow> left = new ArrayList<>(rows);
        while (!left.isEmpty() && !isClosing.getAsBoolean()) {
            List<OutboxRow> behindBlocked = take(left, row -> blockedPuris.contains(row.aggregateid()));
            if (!behindBlocked.isEmpty()) {
                tables.moveToBlocked(connection, behindBlocked);
            }
            Set<String> inWave = new HashSet<>();
            List<OutboxRow> wave = take(left, row -> inWave.add(row.aggregateid()));
            Answers answers = publish(wave);
            if (!answers.published().isEmpty()) {
                tables.delete(connection, answers.published());
            }
            if (!answers.refused().isEmpty()) {
                tables.moveToBlocked(connection, List.copyOf(answers.refused().keySet()));
                for (Map.Entry<OutboxRow, Throwable> each : answers.refused().entrySet()) {
                    noteRefused(each.getKey(), each.getValue(), 1);
                    blockedPuris.add(each.getKey().aggregateid());
                }
            }
            answers.throwFailure();
        }
    }

    /**
     * The result of a turn.
     *
     * @param retried blocked rows that were published
     * @param polled rows of the outbox that were published or blocked
     * @param problem why no blocked row could be published, if rows of the outbox were handled all the same; else null
     */
    record Turn(int retried, int polled, @Nullable RelayException problem) {}

    /**
     * Retries blocked rows, and then publishes the first rows of the outbox. It polls the outbox also if all retried rows failed, because
     * they may all be of one partition.
     *
     * @param polls false if a feed reports the rows of the outbox
     * @throws RelayException if nothing can be published for now
     */
    Turn turn(boolean polls) throws SQLException, InterruptedException {
        int retried = 0;
        RelayException problem = null;
        try {
            retried = retryDue();
        } catch (RelayException e) {
            problem = e;
        }
        int polled = polls || problem != null ? poll() : 0;
        if (problem != null && polled == 0) {
            throw problem;
        }
        return new Turn(retried, polled, problem);
    }

    /**
     * Retries blocked rows that are due, one of each pURI.
     *
     * @return how many were published
     * @throws RelayException if nothing can be published for now
     */
    synchronized int retryDue() throws SQLException, InterruptedException {
        requireOpen();
        List<OutboxRow> due = tables.due(connection, System.currentTimeMillis(), BATCH);
        Answers answers = publish(due);
        for (OutboxRow row : answers.published()) {
            tables.deleteBlocked(connection, row);
        }
        // Failed rows get a later time too; otherwise they would be due at once and end the next session too.
        for (Map<OutboxRow, Throwable> errors : List.of(answers.refused(), answers.failed())) {
            for (Map.Entry<OutboxRow, Throwable> each : errors.entrySet()) {
                noteRefused(each.getKey(), each.getValue(), tables.attempts(connection, each.getKey()) + 1);
            }
        }
        answers.throwFailure();
        return answers.published().size();
    }

    private void noteRefused(OutboxRow row, Throwable error, int attempts) throws SQLException {
        String reason = RowPublisher.description(error);
        long retryMillis =
                System.currentTimeMillis() + settings.backoff(attempts).toMillis();
        tables.noteFailure(connection, row, reason, retryMillis);
        LOG.warn(
                "Event {} of {} cannot be published and blocks the later events of its pURI (attempt {}): {}",
                row.id(),
                row.aggregateid(),
                attempts,
                reason);
    }

    /**
     * The results of a wave.
     *
     * @param refused rows with errors of their own
     * @param failed rows with errors that concern every row
     */
    record Answers(List<OutboxRow> published, Map<OutboxRow, Throwable> refused, Map<OutboxRow, Throwable> failed) {
        @Nullable
        Throwable failure() {
            return failed.isEmpty() ? null : failed.values().iterator().next();
        }

        void throwFailure() {
            Throwable failure = failure();
            if (failure != null) {
                throw new RelayException("nothing can be published: " + failure, failure);
            }
        }
    }

    private Answers publish(List<OutboxRow> wave) throws SQLException, InterruptedException {
        if (!wave.isEmpty()) {
            tables.requireLead(connection);
        }
        return answers(publisher.publish(wave), ANSWER_TIMEOUT.toNanos());
    }

    /**
     * Waits for a wave, at most for the timeout in all: an unreachable broker answers no row. If any row is acknowledged, brokers are
     * reachable, so rows that time out count as refused: their partition has no leader or too few replicas.
     */
    static Answers answers(Map<OutboxRow, CompletableFuture<@Nullable Void>> sent, long timeoutNanos)
            throws InterruptedException {
        List<OutboxRow> published = new ArrayList<>();
        Map<OutboxRow, Throwable> refused = new LinkedHashMap<>();
        Map<OutboxRow, Throwable> failed = new LinkedHashMap<>();
        TimeoutException timeout = null;
        long deadline = System.nanoTime() + timeoutNanos;
        for (Map.Entry<OutboxRow, CompletableFuture<@Nullable Void>> each : sent.entrySet()) {
            if (timeout != null && !each.getValue().isDone()) {
                failed.put(each.getKey(), timeout);
                continue;
            }
            try {
                long left = Math.max(0, deadline - System.nanoTime());
                each.getValue().get(left, TimeUnit.NANOSECONDS);
                published.add(each.getKey());
            } catch (TimeoutException e) {
                timeout = e;
                failed.put(each.getKey(), e);
            } catch (ExecutionException e) {
                Throwable error = e.getCause() == null ? e : e.getCause();
                if (RowPublisher.isOfRow(error)) {
                    refused.put(each.getKey(), error);
                } else {
                    failed.put(each.getKey(), error);
                }
            }
        }
        if (!published.isEmpty()) {
            failed.entrySet().removeIf(each -> {
                boolean isOfPartition = RowPublisher.mayBeOfPartition(each.getValue());
                if (isOfPartition) {
                    refused.put(each.getKey(), each.getValue());
                }
                return isOfPartition;
            });
        }
        return new Answers(published, refused, failed);
    }

    /** Removes the matching rows from a list, and returns them. */
    private static List<OutboxRow> take(List<OutboxRow> from, Predicate<OutboxRow> matches) {
        List<OutboxRow> taken = new ArrayList<>();
        from.removeIf(row -> matches.test(row) && taken.add(row));
        return taken;
    }

    private void requireOpen() throws SQLException {
        if (isClosed) {
            throw new SQLException("this relay does not lead any more");
        }
    }

    /** Ends the session; the connection stays open. */
    @Override
    public synchronized void close() {
        isClosed = true;
        publisher.close();
    }
}
