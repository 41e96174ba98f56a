package dev.puri.client.outbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the rows of an {@link Outbox}. Every instance of a service may run one; the database lets one of them lead,
 * and another takes over when it ends.
 *
 * <pre>
 *   standby ──lock──▶ leading: [feed reports rows  | table is polled] ──▶ waves ──▶ broker ──▶ rows deleted
 *      ▲                 │                                                  └─refused─▶ blocked rows, retried
 *      └──back-off───────┘ database, broker or schema registry fails
 * </pre>
 *
 * <p>A row is deleted when the broker has acknowledged it, so whatever fails at whatever time, its event is published at
 * least once. Repeats have the same event id and count once.
 *
 * <pre>{@code
 * try (OutboxRelay relay = OutboxRelay.start(RelaySettings.of(dataSource, Dialect.POSTGRESQL, kafkaProperties))) {
 *     serve();
 * }
 * }</pre>
 *
 * <p>Published does not mean accepted: the registry may refuse the event, for example because the pURI is taken. The relay does
 * not learn of it, and its status does not count it. The topology's metric {@code puri_registry_events_settled{outcome="refused"}} counts
 * the refusals of all services, and the resolver's {@code /v1/rejections} lists them; {@code docs/operations.md} has an alert.
 *
 * <p>A row that the broker or the serializer refuses blocks its own pURI and no other. It is kept with its error and retried, at first
 * after 1 s and at last every 60 s; {@link #retry} and {@link #skip} are for an operator.
 */
public final class OutboxRelay implements AutoCloseable {
    private static final Duration STANDBY = Duration.ofSeconds(1);
    private static final Duration RETRY_CHECK = Duration.ofSeconds(1);

    /** Time for an interrupted relay to close its publisher and to release its lock. */
    private static final Duration INTERRUPT_TIMEOUT = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(OutboxRelay.class);

    private final RelaySettings settings;
    private final OutboxTables tables;
    private final Feed feed;
    private final Pauses pauses = new Pauses();
    private final Thread thread;
    private volatile boolean isClosed;
    private volatile boolean leads;
    private volatile @Nullable String problem;
    private int failures;

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
     * Starts a relay to which a feed reports rows.
     *
     * @param feed for this relay alone
     */
    public static OutboxRelay start(RelaySettings settings, Feed feed) {
        OutboxRelay relay = new OutboxRelay(settings, feed);
        relay.thread.start();
        return relay;
    }

    private void run() {
        while (!isClosed) {
            try (Connection connection = settings.dataSource().getConnection()) {
                connection.setAutoCommit(true);
                if (tables.tryLead(connection)) {
                    try {
                        lead(connection);
                    } finally {
                        leads = false;
                        tables.resign(connection);
                    }
                } else {
                    failures = 0;
                    problem = null;
                    pauses.backOff(STANDBY);
                }
            } catch (InterruptedException e) {
                return;
            } catch (SQLException e) {
                noteFailure(OutboxSchema.explained(e, settings.dialect(), settings.table()));
            } catch (RuntimeException e) {
                noteFailure(e);
            } catch (Error e) {
                problem = "the relay ended: " + e;
                LOG.error("The relay of {} ends", settings.table(), e);
                throw e;
            }
        }
    }

    private void noteFailure(Exception e) {
        failures++;
        problem = e.toString();
        Duration wait = settings.backoff(failures);
        LOG.warn("The relay of {} failed and goes on in {} ms: {}", settings.table(), wait.toMillis(), e.toString());
        try {
            pauses.backOff(wait);
        } catch (InterruptedException interrupted) {
            // Only close interrupts.
            isClosed = true;
        }
    }

    private void lead(Connection connection) throws SQLException, InterruptedException {
        LOG.info("This relay publishes the rows of {} now", settings.table());
        RowPublisher publisher = new RowPublisher(settings.properties(), settings.ownsTopic());
        try (LeaderSession session = new LeaderSession(settings, connection, tables, publisher, () -> isClosed)) {
            leads = true;
            session.makeAllFirstDue();
            FeedRun run = new FeedRun(session);
            try {
                long sweptNanos = System.nanoTime();
                // A sweep goes on until a page is not full, for any number of rows may be unreported.
                boolean isSweeping = true;
                while (!isClosed) {
                    run.keepUp(connection);
                    boolean isFed = feed.state() instanceof Feed.State.Running;
                    if (System.nanoTime() - sweptNanos
                            >= settings.sweepInterval().toNanos()) {
                        sweptNanos = System.nanoTime();
                        isSweeping = true;
                        session.makeAllFirstDue();
                    }
                    LeaderSession.Turn turn = session.turn(!isFed || isSweeping);
                    isSweeping = turn.polled() == LeaderSession.BATCH;
                    run.throwFailure();
                    failures = 0;
                    problem = turn.problem() == null
                            ? Feed.problem(feed.state())
                            : turn.problem().toString();
                    if (turn.retried() + turn.polled() == 0) {
                        pauses.untilWoken(isFed ? RETRY_CHECK : settings.pollInterval());
                    }
                }
            } finally {
                feed.stop();
            }
        }
    }

    /** Keeps the feed running while its relay leads. */
    private final class FeedRun {
        private final LeaderSession session;
        private volatile @Nullable Exception failure;
        private boolean isStarted;
        private int feedFailures;
        private long restartNanos;

        FeedRun(LeaderSession session) {
            this.session = session;
        }

        void keepUp(Connection connection) {
            if (!isStarted) {
                if (feedFailures == 0 || System.nanoTime() - restartNanos >= 0) {
                    isStarted = true;
                    feed.start(connection, this::accept);
                }
            } else if (feed.state() instanceof Feed.State.Failed failed) {
                feedFailures++;
                Duration wait = settings.backoff(feedFailures);
                LOG.warn(
                        "The feed of {} failed and starts again in {} ms; the table is polled meanwhile",
                        settings.table(),
                        wait.toMillis(),
                        failed.error());
                feed.stop();
                isStarted = false;
                restartNanos = System.nanoTime() + wait.toNanos();
            } else if (feed.state() instanceof Feed.State.Running) {
                feedFailures = 0;
            }
        }

        private void accept(List<Long> seqs) throws SQLException, InterruptedException {
            List<List<Long>> batches = new ArrayList<>();
            for (int from = 0; from < seqs.size(); from += LeaderSession.BATCH) {
                batches.add(seqs.subList(from, Math.min(from + LeaderSession.BATCH, seqs.size())));
            }
            try {
                session.publishPresent(batches);
            } catch (SQLException | RuntimeException e) {
                failure = e;
                wake();
                throw e;
            }
        }

        /** Ends the session if the feed's thread failed to publish. */
        void throwFailure() {
            Exception e = failure;
            if (e != null) {
                throw e instanceof RelayException relay ? relay : new RelayException("the feed's rows failed: " + e, e);
            }
        }
    }

    /**
     * Makes a polling relay read its table at once, for example after a commit in this process. It does not end the wait
     * after a failure. Never blocks.
     */
    public void wake() {
        pauses.wake();
    }

    /**
     * Reads the state of the outbox and of this relay.
     *
     * @throws SQLException if the database fails
     */
    public RelayStatus status() throws SQLException {
        try (Connection connection = settings.dataSource().getConnection()) {
            connection.setAutoCommit(true);
            return tables.status(connection, leads, problem);
        }
    }

    /**
     * Makes a blocked row due now; the relay that leads retries it within a second.
     *
     * @return false if no row with this event id blocks its pURI
     */
    public boolean retry(UUID eventId) throws SQLException {
        try (Connection connection = settings.dataSource().getConnection()) {
            connection.setAutoCommit(true);
            return tables.retryNow(connection, eventId);
        }
    }

    /**
     * Deletes a blocked row: its event is not published, and those behind it are. The event may have been published all the same if a
     * relay is retrying it at this moment.
     *
     * @return false if no blocked row has this event id
     */
    public boolean skip(UUID eventId) throws SQLException {
        try (Connection connection = settings.dataSource().getConnection()) {
            connection.setAutoCommit(true);
            boolean isGone = tables.skip(connection, eventId);
            if (isGone) {
                LOG.warn("Event {} was skipped: it will not be published", eventId);
            }
            return isGone;
        }
    }

    /**
     * Ends after the wave that is under way; the other rows stay in the table. The relay's thread is interrupted after the publisher's
     * timeouts, 46 s by default, and has 10 s more to release its lock.
     */
    @Override
    public void close() {
        isClosed = true;
        pauses.close();
        try {
            if (!ends(thread, RowPublisher.closeTimeout(settings.properties()), INTERRUPT_TIMEOUT)) {
                LOG.warn("The relay of {} still runs after it was closed and interrupted", settings.table());
            }
        } catch (InterruptedException e) {
            thread.interrupt();
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for a thread to end, and interrupts it at the first bound; false if it still runs at the second. */
    static boolean ends(Thread thread, Duration bound, Duration afterInterrupt) throws InterruptedException {
        thread.join(bound.toMillis());
        if (thread.isAlive()) {
            thread.interrupt();
            thread.join(afterInterrupt.toMillis());
        }
        return !thread.isAlive();
    }
}
