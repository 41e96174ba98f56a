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
 * <p>Rows go in waves, of which each has at most one row of a pURI, and the next wave begins when all of the last one are
 * answered. So a row that the broker refuses late is not overtaken by one that was sent behind it. After each wave its
 * rows are deleted, on the connection that holds the relay's lock: a relay that lost the lock fails there, after one wave
 * at most, and a killed one repeats at most one event of each pURI.
 *
 * <p>A row that cannot be published moves to the blocked ones, in the same table as the later rows of its pURI. While a
 * pURI has rows there all its rows go there.
 */
final class LeaderSession implements AutoCloseable {
    /** Times the largest payload this is the memory that a relay takes, 128 MiB. */
    static final int BATCH = 256;

    /** For a whole wave. The publisher gives each event up earlier, unless delivery.timeout.ms is longer. */
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

    /** Makes the first blocked row of each pURI due, where something ended between two statements. */
    synchronized void makeAllFirstDue() throws SQLException {
        requireOpen();
        tables.makeAllFirstDue(connection);
    }

    /**
     * Publishes the first rows of the outbox.
     *
     * @return how many there were
     * @throws RelayException when nothing can be published for now
     */
    synchronized int poll() throws SQLException, InterruptedException {
        requireOpen();
        List<OutboxRow> rows = tables.first(connection, BATCH);
        publishInWaves(rows);
        return rows.size();
    }

    /**
     * Publishes those of these rows that are still there. Once the relay is being closed, the rest stays in the table.
     *
     * @throws RelayException when nothing can be published for now
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
     * What a turn did.
     *
     * @param polled rows of the outbox, published or blocked
     * @param problem why no blocked row could be published, although rows of the outbox were handled after that
     */
    record Turn(int retried, int polled, @Nullable RelayException problem) {}

    /**
     * Tries blocked rows again, and then publishes the first rows of the outbox, also if all that was tried again failed:
     * it may be of one partition.
     *
     * @param polls false if a feed reports the rows of the outbox
     * @throws RelayException when nothing can be published for now
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
     * Tries again to publish blocked rows whose time has come, one of each pURI.
     *
     * @return how many were published
     * @throws RelayException when nothing can be published for now
     */
    synchronized int retryDue() throws SQLException, InterruptedException {
        requireOpen();
        List<OutboxRow> due = tables.due(connection, System.currentTimeMillis(), BATCH);
        Answers answers = publish(due);
        for (OutboxRow row : answers.published()) {
            tables.deleteBlocked(connection, row);
        }
        // Those that failed are noted too, or they would be due at once in the next session, and end it likewise.
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
     * What became of a wave.
     *
     * @param refused errors of rows alone
     * @param failed rows that failed as any other would have
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
     * Waits for a wave, and no longer than the timeout for all of it: a broker that is away answers no row. If a row is
     * acknowledged, brokers are not away, so those that time out are refused: their partition or topic has no leader, or
     * too few replicas.
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

    /** Moves those that fit out of a list. */
    private static List<OutboxRow> take(List<OutboxRow> from, Predicate<OutboxRow> fits) {
        List<OutboxRow> taken = new ArrayList<>();
        from.removeIf(row -> fits.test(row) && taken.add(row));
        return taken;
    }

    private void requireOpen() throws SQLException {
        if (isClosed) {
            throw new SQLException("this relay does not lead any more");
        }
    }

    /** Ends; the connection stays open. */
    @Override
    public synchronized void close() {
        isClosed = true;
        publisher.close();
    }
}
