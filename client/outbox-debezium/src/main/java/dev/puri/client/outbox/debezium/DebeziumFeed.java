package dev.puri.client.outbox.debezium;

import dev.puri.client.outbox.Feed;
import io.debezium.config.Configuration;
import io.debezium.connector.postgresql.PostgresConnectorConfig;
import io.debezium.connector.postgresql.connection.PostgresConnection;
import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.DebeziumEngine.RecordCommitter;
import io.debezium.engine.RecordChangeEvent;
import io.debezium.engine.format.ChangeEventFormat;
import io.debezium.jdbc.JdbcConfiguration;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the rows of an outbox in PostgreSQL to a relay: at the start the existing rows in the order of {@code seq},
 * then new rows in the order of their commits. Debezium's embedded engine reads the rows from a logical replication
 * slot (plug-in {@code pgoutput}).
 *
 * <pre>{@code
 * Feed feed = new DebeziumFeed("puri_outbox", Map.of(
 *         "database.hostname", "db-1", "database.port", "5432", "database.dbname", "catalog",
 *         "database.user", "relay", "database.password", password));
 * OutboxRelay relay = OutboxRelay.start(settings, feed);
 * }</pre>
 *
 * <p>The server needs {@code wal_level=logical}. The user {@code database.user} needs the attribute {@code REPLICATION}
 * and the right to read the table. The user of the relay's {@code DataSource}, which may be another one, must own the
 * table and have the right {@code CREATE} on the database, unless the table's publication exists: {@code CREATE
 * PUBLICATION puri_outbox_OID FOR TABLE puri_outbox WITH (publish = 'insert')}, where OID is the result of {@code
 * SELECT 'puri_outbox'::regclass::oid}.
 *
 * <p>Every start creates a slot and reads a snapshot of the existing rows. The creation of the slot waits for the
 * transactions that write at that time, for at most 6 hours; the relay polls meanwhile. Every stop drops the slot. No
 * offsets are stored, because unpublished rows stay in the table. If a process is killed, its slot remains until the
 * next start drops the slot. Until then PostgreSQL keeps its write-ahead log, so set a limit in {@code
 * max_slot_wal_keep_size}. If the slot is lost because of this limit, the relay starts the feed again.
 */
public final class DebeziumFeed implements Feed {
    private static final Logger LOG = LoggerFactory.getLogger(DebeziumFeed.class);
    private static final long CLOSE_TIMEOUT_MILLIS = TimeUnit.SECONDS.toMillis(60);
    private static final long CLOSE_RETRY_MILLIS = 50;

    /** Time for an interrupted engine to end. */
    private static final long INTERRUPT_TIMEOUT_MILLIS = TimeUnit.SECONDS.toMillis(3);

    /** Time for the sink to publish a wave before the engine is closed, which interrupts the sink. */
    private static final long WAVE_TIMEOUT_MILLIS = TimeUnit.SECONDS.toMillis(30);

    /** The statement for a table has the name of the table as suffix. */
    private static final String SNAPSHOT_STATEMENTS = "snapshot.select.statement.overrides";

    static final Map<String, String> DEFAULTS = Map.of(
            // Time that Debezium sleeps while the stream is empty.
            "poll.interval.ms", "10",
            "max.batch.size", "256",
            "max.queue.size", "1024",
            // Confirms the position in the write-ahead log regularly. Otherwise PostgreSQL would keep the log as long
            // as only other tables are written.
            "heartbeat.interval.ms", "10000",
            "offset.flush.interval.ms", "5000",
            // Debezium's limits for the creation of the slot, in seconds, and for the start and the stop of its task.
            "internal.create.slot.command.timeout", "" + TimeUnit.HOURS.toSeconds(6),
            "internal.task.management.timeout.ms", "" + TimeUnit.HOURS.toMillis(6));

    private final String table;
    private final Map<String, String> connectorProperties;

    /** Is held while the sink publishes rows, and while the engine is closed. Fair, so that a stop can take it. */
    private final ReentrantLock publishing = new ReentrantLock(true);

    private volatile State state = new State.Starting();
    private @Nullable Engine engine;

    /** A running engine and its thread. */
    private record Engine(
            OutboxReplication replication, DebeziumEngine<RecordChangeEvent<SourceRecord>> engine, Thread thread) {}

    /**
     * @param table name of the outbox table, as in the relay's settings
     * @param connectorProperties properties of Debezium's PostgreSQL connector: {@code database.hostname}, {@code
     *     database.port}, {@code database.dbname}, {@code database.user}, {@code database.password}, and others such as
     *     {@code database.sslmode}
     * @throws IllegalArgumentException if the properties contain a property that the feed sets; the message lists all
     *     of these
     */
    public DebeziumFeed(String table, Map<String, String> connectorProperties) {
        this.table = table;
        this.connectorProperties = Map.copyOf(connectorProperties);
        // Only the names of the properties matter here.
        Set<String> fixed =
                fixedProperties(new OutboxReplication("s", "t", "p", "n")).keySet();
        TreeSet<String> forbidden = new TreeSet<>(connectorProperties.keySet());
        forbidden.removeIf(name -> !fixed.contains(name) && !name.startsWith(SNAPSHOT_STATEMENTS));
        if (!forbidden.isEmpty()) {
            throw new IllegalArgumentException(
                    "these properties must be absent, because the feed sets them: " + String.join(", ", forbidden));
        }
    }

    @Override
    public void start(Connection leader, Sink sink) {
        state = new State.Starting();
        try {
            OutboxReplication replication = OutboxReplication.of(leader, table);
            dropSlot(replication);
            replication.createPublicationIfMissing(leader);
            startEngine(replication, sink);
        } catch (SQLException | RuntimeException e) {
            state = new State.Failed(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            state = new State.Failed(e);
        }
    }

    /**
     * Drops the slot as the connector's user, who has the attribute {@code REPLICATION}, and may end the session of an
     * earlier relay because it is a session of the same user.
     */
    private void dropSlot(OutboxReplication replication) throws SQLException, InterruptedException {
        JdbcConfiguration jdbc =
                new PostgresConnectorConfig(Configuration.from(properties(replication))).getJdbcConfig();
        try (PostgresConnection connection = new PostgresConnection(jdbc, "puri-outbox-slot")) {
            replication.dropExisting(connection.connection());
        }
    }

    private Properties properties(OutboxReplication replication) {
        Properties properties = new Properties();
        properties.putAll(DEFAULTS);
        properties.putAll(connectorProperties);
        properties.putAll(fixedProperties(replication));
        return properties;
    }

    private void startEngine(OutboxReplication replication, Sink sink) {
        DebeziumEngine<RecordChangeEvent<SourceRecord>> newEngine = DebeziumEngine.create(
                        ChangeEventFormat.of(Connect.class))
                .using(properties(replication))
                .using(new DebeziumEngine.ConnectorCallback() {
                    @Override
                    public void taskStarted() {
                        // The slot exists now. Rows that were committed before it was created are in the snapshot.
                        state = new State.Running();
                    }
                })
                .using((success, message, error) ->
                        state = new State.Failed(error != null ? error : new IllegalStateException(message)))
                .notifying((records, committer) -> publish(records, committer, sink))
                .build();
        Thread thread = startThread("puri-outbox-feed", () -> {
            try {
                newEngine.run();
            } catch (RuntimeException | Error e) {
                // The engine ended without a call of its completion callback.
                state = new State.Failed(e);
            }
        });
        engine = new Engine(replication, newEngine, thread);
    }

    private static Thread startThread(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static Map<String, String> fixedProperties(OutboxReplication replication) {
        String qualified = replication.schema() + "." + replication.table();
        return Map.ofEntries(
                Map.entry("name", replication.slot()),
                Map.entry("connector.class", "io.debezium.connector.postgresql.PostgresConnector"),
                // The prefix is part of MBean names, so two feeds in a process need different prefixes.
                Map.entry("topic.prefix", replication.slot()),
                Map.entry("plugin.name", "pgoutput"),
                Map.entry("slot.name", replication.slot()),
                Map.entry("slot.drop.on.stop", "true"),
                Map.entry("publication.name", replication.publication()),
                Map.entry("publication.autocreate.mode", "disabled"),
                Map.entry("table.include.list", pattern(qualified)),
                // Only the column seq is read. The relay reads the row from the table, unless the row is already
                // published and deleted.
                Map.entry("column.include.list", pattern(qualified + ".seq")),
                Map.entry("skipped.operations", "u,d,t"),
                Map.entry("tombstones.on.delete", "false"),
                Map.entry("snapshot.mode", "initial"),
                // In quotes, because Debezium parses this name as SQL.
                Map.entry(SNAPSHOT_STATEMENTS, replication.quotedTable()),
                Map.entry(
                        SNAPSHOT_STATEMENTS + "." + replication.quotedTable(),
                        "SELECT seq FROM " + replication.quotedTable() + " ORDER BY seq"),
                Map.entry("offset.storage", "org.apache.kafka.connect.storage.MemoryOffsetBackingStore"),
                // Debezium does not retry, because the relay decides when to restart the feed.
                Map.entry("errors.max.retries", "0"));
    }

    /** Returns a regular expression for a name. */
    private static String pattern(String name) {
        return name.replaceAll("\\W", "\\\\$0");
    }

    private void publish(
            List<RecordChangeEvent<SourceRecord>> records,
            RecordCommitter<RecordChangeEvent<SourceRecord>> committer,
            Sink sink)
            throws InterruptedException {
        List<Long> seqs = new ArrayList<>(records.size());
        for (RecordChangeEvent<SourceRecord> record : records) {
            // A record without the field "after" is a heartbeat.
            if (record.record().value() instanceof Struct change
                    && change.schema().field("after") != null
                    && change.getStruct("after") != null) {
                seqs.add(change.getStruct("after").getInt64("seq"));
            }
        }
        publishing.lockInterruptibly();
        try {
            sink.accept(seqs);
        } catch (SQLException e) {
            throw new IllegalStateException("the relay's database failed: " + e.getMessage(), e);
        } finally {
            publishing.unlock();
        }
        for (RecordChangeEvent<SourceRecord> record : records) {
            committer.markProcessed(record);
        }
        committer.markBatchFinished();
    }

    @Override
    public State state() {
        return state;
    }

    @Override
    public void stop() {
        Engine stopping = engine;
        engine = null;
        if (stopping == null) {
            return;
        }
        // On a thread of its own, because the engine waits for its task for hours.
        Thread closer = startThread("puri-outbox-feed-closer", () -> close(stopping));
        boolean isInterrupted = false;
        for (long timeoutMillis : new long[] {CLOSE_TIMEOUT_MILLIS, INTERRUPT_TIMEOUT_MILLIS}) {
            try {
                closer.join(timeoutMillis);
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
            if (!closer.isAlive()) {
                break;
            }
            LOG.warn("The Debezium engine for {} did not end in time and is interrupted", table);
            closer.interrupt();
            stopping.thread().interrupt();
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void close(Engine closing) {
        boolean isLocked = false;
        try {
            isLocked = publishing.tryLock(WAVE_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            LOG.debug("The engine is closed although the sink publishes rows", e);
        }
        try {
            while (closing.thread().isAlive()) {
                try {
                    closing.engine().close();
                } catch (IOException | IllegalStateException e) {
                    // The engine refuses to close while it starts, or if it is closed already.
                    LOG.debug("The Debezium engine did not close; this is tried again while its thread runs", e);
                    if (state instanceof State.Starting) {
                        abortStart(closing);
                    }
                }
                closing.thread().join(CLOSE_RETRY_MILLIS);
            }
        } catch (InterruptedException e) {
            LOG.debug("The Debezium engine is no longer awaited", e);
        } finally {
            if (isLocked) {
                publishing.unlock();
            }
        }
    }

    /**
     * Ends the database session that creates the slot, which may wait for older transactions. The start then fails. An
     * interrupt would not end the session, which might later create the slot.
     */
    private void abortStart(Engine starting) throws InterruptedException {
        try {
            dropSlot(starting.replication());
        } catch (SQLException | RuntimeException e) {
            LOG.debug("The start of the Debezium engine was not aborted", e);
        }
    }
}
