package dev.puri.client.outbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the events of an {@link Outbox} to Kafka. Every instance of a service may run a relay. One relay is the
 * leader, which publishes: it holds a lock in the database. When the leader ends, another relay takes over.
 *
 * <pre>
 *   standby ──lock──▶ leader: [feed reports rows | table is polled] ──▶ waves ──▶ broker ──▶ rows deleted
 *      ▲                │                                                  └─refused─▶ blocked rows, retried
 *      └──back-off──────┘ database, broker or schema registry fails
 * </pre>
 *
 * <p>A wave has at most one event of each pURI. A row is deleted only after the broker has acknowledged its event, so
 * each event is published at least once. A repeated event has the same event id, so the registry counts it once.
 *
 * <pre>{@code
 * try (OutboxRelay relay = OutboxRelay.start(RelaySettings.of(dataSource, Dialect.POSTGRESQL, kafkaProperties))) {
 *     serve();
 * }
 * }</pre>
 *
 * <p>The registry may still refuse a published event, for example because the pURI is taken. The relay does not know of
 * such refusals, and its status does not count them. The metric {@code puri_registry_events_settled{outcome="refused"}}
 * of the topology counts the refusals of all services, and the resolver's {@code /v1/rejections} lists them. {@code
 * docs/operations.md} has an alert for refusals.
 *
 * <p>A row that the broker or the serializer refuses blocks the later rows of its pURI, but no other pURI. The relay
 * keeps the row with its error and retries it, at first after 1 s and finally every 60 s. An operator can call {@link
 * #retry} and {@link #skip}.
 */
public final class OutboxRelay implements AutoCloseable {
    private static final Duration STANDBY_INTERVAL = Duration.ofSeconds(1);
    private static final Duration RETRY_CHECK_INTERVAL = Duration.ofSeconds(1);

    /** Time for an interrupted relay to close its publisher and to release its lock. */
    private static final Duration INTERRUPT_TIMEOUT = Duration.ofSeconds(10);

    /** Wait after a failure that could not be reported. */
    private static final long FALLBACK_BACKOFF_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Problem in the status if there is no memory for the text of a failure. */
    private static final String UNREPORTED_PROBLEM = "a failure that could not be reported";

    private static final Logger LOG = LoggerFactory.getLogger(OutboxRelay.class);

    private final RelaySettings settings;
    private final OutboxTables tables;
    private final Feed feed;
    private final Pauses pauses = new Pauses();
    private final Thread thread;
    private volatile boolean isClosed;
    private volatile boolean isLeader;
    private volatile @Nullable String problem;
    private int consecutiveFailures;

    private OutboxRelay(RelaySettings settings, Feed feed) {
        this.settings = settings;
        this.tables = new OutboxTables(settings.dialect(), settings.table());
        this.feed = feed;
        this.thread = new Thread(this::run, "puri-outbox-relay");
        thread.setDaemon(true);
    }

    /** Starts a relay that polls the table. */
    public static OutboxRelay start(RelaySettings settings) {
        return start(settings, Feed.NONE);
    }

    /**
     * Starts a relay that a feed notifies of new rows.
     *
     * @param feed must not be used by another relay
     */
    public static OutboxRelay start(RelaySettings settings, Feed feed) {
        OutboxRelay relay = new OutboxRelay(settings, feed);
        relay.thread.start();
        return relay;
    }

    private void run() {
        while (!isClosed) {
            try {
                leadOrStandBy();
            } catch (InterruptedException e) {
                // Only close() interrupts this thread.
                isClosed = true;
            } catch (RuntimeException | Error e) {
                // The report of a failure has failed, for example for lack of memory. If the thread ended, rows would
                // wait for a restart. These statements need no memory.
                problem = UNREPORTED_PROBLEM;
                LockSupport.parkNanos(FALLBACK_BACKOFF_NANOS);
            }
        }
    }

    private void leadOrStandBy() throws InterruptedException {
        try (Connection connection = settings.dataSource().getConnection()) {
            connection.setAutoCommit(true);
            if (tables.tryLead(connection)) {
                try {
                    lead(connection);
                } finally {
                    isLeader = false;
                    tables.resign(connection);
                }
            } else {
                consecutiveFailures = 0;
                problem = null;
                pauses.backOff(STANDBY_INTERVAL);
            }
        } catch (SQLException | RuntimeException | Error e) {
            // Errors are retried too, because their cause may be temporary, such as a lack of memory.
            consecutiveFailures++;
            Duration backoff = settings.backoff(consecutiveFailures);
            report(e, backoff);
            pauses.backOff(backoff);
        }
    }

    private void report(Throwable failure, Duration backoff) {
        Throwable described = failure instanceof SQLException e
                ? OutboxSchema.withMissingTableHint(e, settings.dialect(), settings.table())
                : failure;
        String text = described.toString();
        problem = text;
        if (failure instanceof Error) {
            LOG.error("The relay of {} failed and retries in {} ms", settings.table(), backoff.toMillis(), failure);
        } else {
            LOG.warn("The relay of {} failed and retries in {} ms: {}", settings.table(), backoff.toMillis(), text);
        }
    }

    private void lead(Connection connection) throws SQLException, InterruptedException {
        LOG.info("This relay is now the leader: it publishes the rows of {}", settings.table());
        RowPublisher publisher = new RowPublisher(settings.properties(), settings.ownsTopic());
        try (LeaderSession session = new LeaderSession(settings, connection, tables, publisher, () -> isClosed)) {
            isLeader = true;
            session.addMissingRetryTimes();
            FeedSupervisor supervisor = new FeedSupervisor(session);
            try {
                long lastSweepNanos = System.nanoTime();
                // During a sweep the table is polled although a feed runs, because the feed may have missed rows. The
                // sweep ends with the first batch that is not full.
                boolean isSweepRunning = true;
                while (!isClosed) {
                    supervisor.supervise(connection);
                    boolean isFeedRunning = feed.state() instanceof Feed.State.Running;
                    if (System.nanoTime() - lastSweepNanos
                            >= settings.sweepInterval().toNanos()) {
                        lastSweepNanos = System.nanoTime();
                        isSweepRunning = true;
                        session.addMissingRetryTimes();
                    }
                    LeaderSession.Pass pass = session.runPass(!isFeedRunning || isSweepRunning);
                    isSweepRunning = pass.polled() == LeaderSession.BATCH_SIZE;
                    supervisor.throwIfPublishingFailed();
                    consecutiveFailures = 0;
                    problem = pass.problem() == null
                            ? Feed.problem(feed.state())
                            : pass.problem().toString();
                    if (pass.publishedRetries() + pass.polled() == 0) {
                        pauses.waitForRows(isFeedRunning ? RETRY_CHECK_INTERVAL : settings.pollInterval());
                    }
                }
            } finally {
                feed.stop();
            }
        }
    }

    /** Starts the feed while this relay is the leader, and restarts it after failures. */
    private final class FeedSupervisor {
        private final LeaderSession session;
        private volatile @Nullable Throwable publishFailure;
        private boolean isStarted;
        private int feedFailures;
        private long restartAtNanos;

        FeedSupervisor(LeaderSession session) {
            this.session = session;
        }

        /** Starts the feed if it is due, or stops a feed that has failed. */
        void supervise(Connection connection) {
            if (!isStarted) {
                if (feedFailures == 0 || System.nanoTime() - restartAtNanos >= 0) {
                    isStarted = true;
                    feed.start(connection, this::publishReported);
                }
            } else if (feed.state() instanceof Feed.State.Failed failed) {
                feedFailures++;
                Duration delay = settings.backoff(feedFailures);
                LOG.warn(
                        "The feed of {} failed and restarts in {} ms; until then the table is polled",
                        settings.table(),
                        delay.toMillis(),
                        failed.error());
                feed.stop();
                isStarted = false;
                restartAtNanos = System.nanoTime() + delay.toNanos();
            } else if (feed.state() instanceof Feed.State.Running) {
                feedFailures = 0;
            }
        }

        private void publishReported(List<Long> seqs) throws SQLException, InterruptedException {
            List<List<Long>> batches = new ArrayList<>();
            for (int from = 0; from < seqs.size(); from += LeaderSession.BATCH_SIZE) {
                batches.add(seqs.subList(from, Math.min(from + LeaderSession.BATCH_SIZE, seqs.size())));
            }
            try {
                session.publishRowsWithSeqs(batches);
            } catch (SQLException | RuntimeException | Error e) {
                publishFailure = e;
                wake();
                throw e;
            }
        }

        /** Ends the session with an exception if the rows that the feed reported could not be published. */
        void throwIfPublishingFailed() {
            Throwable e = publishFailure;
            if (e != null) {
                throw e instanceof RelayException relayException
                        ? relayException
                        : new RelayException("rows that the feed reported could not be published: " + e, e);
            }
        }
    }

    /**
     * Makes a polling relay read its table at once, for example after a commit in this process. Does not shorten the
     * back-off after a failure. Never blocks.
     */
    public void wake() {
        pauses.wake();
    }

    /**
     * Returns the state of the outbox and of this relay.
     *
     * @throws SQLException if the database fails
     */
    public RelayStatus status() throws SQLException {
        try (Connection connection = settings.dataSource().getConnection()) {
            connection.setAutoCommit(true);
            return tables.status(connection, isLeader, problem);
        }
    }

    /**
     * Makes a failed row due. If this relay is the leader, it retries the row at once. Another leader retries the row
     * within a second if its feed runs, otherwise within its poll interval. Does not shorten a back-off: while
     * the topic of the row is paused after a failure, the retry fails without a send.
     *
     * @return false if no failed row has this event id
     */
    public boolean retry(UUID eventId) throws SQLException {
        try (Connection connection = settings.dataSource().getConnection()) {
            connection.setAutoCommit(true);
            boolean isDue = tables.makeFailedRowDue(connection, eventId);
            if (isDue) {
                wake();
            }
            return isDue;
        }
    }

    /**
     * Deletes a failed row, or a row that waits behind a failed row of its pURI. The event of the deleted row is not
     * published. After a failed row is deleted, the later events of its pURI are published. If a relay is retrying the
     * row at this moment, the event may still be published.
     *
     * @return false if neither a failed nor a waiting row has this event id
     */
    public boolean skip(UUID eventId) throws SQLException {
        try (Connection connection = settings.dataSource().getConnection()) {
            connection.setAutoCommit(true);
            boolean isDeleted = tables.skip(connection, eventId);
            if (isDeleted) {
                LOG.warn("Event {} was skipped: it will not be published", eventId);
            }
            return isDeleted;
        }
    }

    /**
     * Ends the relay after the current wave. Other rows stay in the table. If the relay's thread still runs after the
     * timeouts of the publisher, 46 s by default, it is interrupted; it then has another 10 s to release its lock.
     */
    @Override
    public void close() {
        isClosed = true;
        pauses.close();
        try {
            if (!endsWithin(thread, RowPublisher.waveAndCloseTimeout(settings.properties()), INTERRUPT_TIMEOUT)) {
                LOG.warn("The relay of {} was closed and interrupted, but still runs", settings.table());
            }
        } catch (InterruptedException e) {
            thread.interrupt();
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Waits until a thread ends, and interrupts it after the first timeout. Returns false if it still runs after the
     * second timeout.
     */
    static boolean endsWithin(Thread thread, Duration timeout, Duration timeoutAfterInterrupt)
            throws InterruptedException {
        thread.join(timeout.toMillis());
        if (thread.isAlive()) {
            thread.interrupt();
            thread.join(timeoutAfterInterrupt.toMillis());
        }
        return !thread.isAlive();
    }
}
