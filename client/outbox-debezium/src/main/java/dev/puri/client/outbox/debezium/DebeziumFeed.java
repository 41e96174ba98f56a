package dev.puri.client.outbox.debezium;

import dev.puri.client.outbox.Feed;
import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.DebeziumEngine.RecordCommitter;
import io.debezium.engine.RecordChangeEvent;
import io.debezium.engine.format.ChangeEventFormat;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the rows of an outbox in PostgreSQL in the order of their commits. Debezium's embedded engine reads them from a logical
 * replication slot (plug-in {@code pgoutput}).
 *
 * <pre>{@code
 * Feed feed = new DebeziumFeed("puri_outbox", Map.of(
 *         "database.hostname", "db-1", "database.port", "5432", "database.dbname", "catalog",
 *         "database.user", "relay", "database.password", password));
 * OutboxRelay relay = OutboxRelay.start(settings, feed);
 * }</pre>
 *
 * <p>The server needs {@code wal_level=logical}, the user the attribute {@code REPLICATION} and the right to read the
 * table. The user must own the table as well unless its publication exists: {@code CREATE PUBLICATION puri_outbox_OID
 * FOR TABLE puri_outbox WITH (publish = 'insert')}, where OID is the result of {@code SELECT
 * 'puri_outbox'::regclass::oid}.
 *
 * <p>Every start creates a slot, together with a snapshot of the existing rows, and every stop drops it. No offsets are stored, because an
 * unpublished row is in the table. The next start drops a slot that a killed process left. Until then PostgreSQL keeps its
 * write-ahead log, so {@code max_slot_wal_keep_size} should have a bound; a feed that loses its slot by that starts again.
 */
public final class DebeziumFeed implements Feed {
    private static final Logger LOG = LoggerFactory.getLogger(DebeziumFeed.class);
    private static final long CLOSE_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final long CLOSE_RETRY_MILLIS = 50;

    private static final Map<String, String> DEFAULTS = Map.of(
            // How long Debezium sleeps when the stream is empty.
            "poll.interval.ms", "10",
            "max.batch.size", "256",
            "max.queue.size", "1024",
            // Lets PostgreSQL drop its log while other tables are written and this one is not.
            "heartbeat.interval.ms", "10000",
            "offset.flush.interval.ms", "5000");

    private final String table;
    private final Map<String, String> connector;
    private volatile State state = new State.Starting();
    private @Nullable Engine engine;

    /** A running engine and its thread. */
    private record Engine(DebeziumEngine<RecordChangeEvent<SourceRecord>> engine, Thread thread) {}

    /**
     * @param table the outbox's table, as in the relay's settings
     * @param connector Debezium's properties of its PostgreSQL connector: {@code database.hostname}, {@code
     *     database.port}, {@code database.dbname}, {@code database.user}, {@code database.password}, and others such as
     *     {@code database.sslmode}
     * @throws IllegalArgumentException if the properties contain some that the feed sets; all such are listed
     */
    public DebeziumFeed(String table, Map<String, String> connector) {
        this.table = table;
        this.connector = Map.copyOf(connector);
        TreeSet<String> refused =
                new TreeSet<>(fixed(new Slot("s", "t", "p", "n")).keySet());
        refused.retainAll(connector.keySet());
        if (!refused.isEmpty()) {
            throw new IllegalArgumentException("properties that the feed sets itself: " + String.join(", ", refused));
        }
    }

    @Override
    public void start(Connection leader, Sink sink) {
        state = new State.Starting();
        try {
            Slot slot = Slot.of(leader, table);
            slot.dropLeftOver(leader);
            slot.makePublication(leader);
            run(slot, sink);
        } catch (SQLException | RuntimeException e) {
            state = new State.Failed(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            state = new State.Failed(e);
        }
    }

    private void run(Slot slot, Sink sink) {
        Properties properties = new Properties();
        properties.putAll(DEFAULTS);
        properties.putAll(connector);
        properties.putAll(fixed(slot));
        DebeziumEngine<RecordChangeEvent<SourceRecord>> created = DebeziumEngine.create(
                        ChangeEventFormat.of(Connect.class))
                .using(properties)
                .using(new DebeziumEngine.ConnectorCallback() {
                    @Override
                    public void taskStarted() {
                        // The slot exists; rows that were committed before it are in the snapshot.
                        state = new State.Running();
                    }
                })
                .using((success, message, error) ->
                        state = new State.Failed(error != null ? error : new IllegalStateException(message)))
                .notifying((records, committer) -> handle(records, committer, sink))
                .build();
        Thread thread = new Thread(created, "puri-outbox-feed");
        thread.setDaemon(true);
        engine = new Engine(created, thread);
        thread.start();
    }

    private static Map<String, String> fixed(Slot slot) {
        String qualified = slot.schema() + "." + slot.table();
        return Map.ofEntries(
                Map.entry("name", slot.name()),
                Map.entry("connector.class", "io.debezium.connector.postgresql.PostgresConnector"),
                // It names MBeans, so two feeds of a process need different ones.
                Map.entry("topic.prefix", slot.name()),
                Map.entry("plugin.name", "pgoutput"),
                Map.entry("slot.name", slot.name()),
                Map.entry("slot.drop.on.stop", "true"),
                Map.entry("publication.name", slot.publication()),
                Map.entry("publication.autocreate.mode", "disabled"),
                Map.entry("table.include.list", qualified.replace(".", "\\.")),
                // Only the key: the relay reads the row from the table, unless it is published and deleted already.
                Map.entry("column.include.list", (qualified + ".seq").replace(".", "\\.")),
                Map.entry("skipped.operations", "u,d,t"),
                Map.entry("tombstones.on.delete", "false"),
                Map.entry("snapshot.mode", "initial"),
                Map.entry("snapshot.select.statement.overrides", qualified),
                Map.entry(
                        "snapshot.select.statement.overrides." + qualified,
                        "SELECT seq FROM " + qualified + " ORDER BY seq"),
                Map.entry("offset.storage", "org.apache.kafka.connect.storage.MemoryOffsetBackingStore"),
                // The relay decides when to start the feed again.
                Map.entry("errors.max.retries", "0"));
    }

    private static void handle(
            List<RecordChangeEvent<SourceRecord>> records,
            RecordCommitter<RecordChangeEvent<SourceRecord>> committer,
            Sink sink)
            throws InterruptedException {
        List<Long> seqs = new ArrayList<>(records.size());
        for (RecordChangeEvent<SourceRecord> record : records) {
            // Heartbeats have another form.
            if (record.record().value() instanceof Struct change
                    && change.schema().field("after") != null
                    && change.getStruct("after") != null) {
                seqs.add(change.getStruct("after").getInt64("seq"));
            }
        }
        try {
            sink.accept(seqs);
        } catch (SQLException e) {
            throw new IllegalStateException("the relay's database failed: " + e.getMessage(), e);
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
        Engine running = engine;
        engine = null;
        if (running == null) {
            return;
        }
        long deadline = System.nanoTime() + CLOSE_TIMEOUT_NANOS;
        boolean isInterrupted = false;
        while (running.thread().isAlive() && System.nanoTime() - deadline < 0) {
            try {
                close(running.engine());
                running.thread().join(CLOSE_RETRY_MILLIS);
            } catch (InterruptedException e) {
                isInterrupted = true;
                running.thread().interrupt();
            }
        }
        if (running.thread().isAlive()) {
            LOG.warn("The engine of {} did not end; it is interrupted", table);
            running.thread().interrupt();
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void close(DebeziumEngine<?> engine) {
        try {
            engine.close();
        } catch (IOException | IllegalStateException e) {
            // The engine refuses to close while it starts, and when it is closed already.
            LOG.debug("The engine is not closed yet", e);
        }
    }
}
