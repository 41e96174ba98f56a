package dev.puri.client.outbox;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Stores events in the database transaction of the change that they report. If the transaction commits, an {@link
 * OutboxRelay} publishes the events. If it is rolled back, they are not published.
 *
 * <pre>{@code
 * Outbox outbox = new Outbox(Dialect.POSTGRESQL);
 * try (Connection connection = dataSource.getConnection()) {
 *     connection.setAutoCommit(false);
 *     insertTrack(connection, track);
 *     outbox.add(connection, events.created(track, owner, shard).build());
 *     connection.commit();
 * }
 * }</pre>
 *
 * <p><b>Order.</b> Events of one pURI are published in the order of their transactions' commits, and within a
 * transaction in the order in which they were added. To guarantee this order, {@code add} locks the pURI until the
 * transaction ends: another transaction that adds an event of the same pURI waits. Two transactions that add events of
 * the same pURIs in different orders can deadlock, and the database then aborts one of them. {@link #addAll} takes all
 * its locks in a fixed order, so a transaction that calls it only once avoids such deadlocks. In PostgreSQL each pURI
 * of a transaction takes one entry of the server's lock table (about 6,400 entries by default), so a bulk load should
 * commit every 1,000 events.
 *
 * <p>Adding an event needs neither the broker nor the schema registry. Immutable and thread-safe.
 */
public final class Outbox {
    /**
     * Maximum size of an encoded event in the outbox, in bytes. Larger rows could exceed limits of databases and
     * brokers. An event between 128 KiB and this size is published, but the registry refuses it.
     */
    public static final int MAX_PAYLOAD_BYTES = 512 * 1024;

    /** Number of rows in the lock table of MySQL and MariaDB. */
    private static final int LOCK_BUCKETS = 10_000;

    private final Dialect dialect;
    private final String table;
    private final Supplier<@Nullable TraceContext> traceSupplier;

    /** Creates an outbox with the table {@value OutboxSchema#DEFAULT_TABLE} and without trace contexts. */
    public Outbox(Dialect dialect) {
        this(dialect, OutboxSchema.DEFAULT_TABLE, () -> null);
    }

    /**
     * @param table name of the outbox table, valid for {@link OutboxSchema#sql(Dialect, String)}
     * @param traceSupplier returns the trace context of the calling thread, or null; called once in each {@code add} or
     *     {@code addAll}
     * @throws IllegalArgumentException if the table name is not valid
     */
    public Outbox(Dialect dialect, String table, Supplier<@Nullable TraceContext> traceSupplier) {
        this.dialect = dialect;
        this.table = OutboxSchema.requireValidTableName(table);
        this.traceSupplier = traceSupplier;
    }

    /**
     * Adds an event to the transaction of a connection.
     *
     * @throws SQLException if the database refuses the event; the caller should then roll the transaction back
     * @throws IllegalStateException if the connection is in auto-commit mode
     * @throws IllegalArgumentException if the encoded event is larger than {@link #MAX_PAYLOAD_BYTES}
     */
    public void add(Connection connection, Event event) throws SQLException {
        addAll(connection, List.of(event));
    }

    /**
     * Adds events to the transaction of a connection, in the order of the list. Executes one query that takes
     * the locks, and one JDBC batch that inserts the rows.
     *
     * @see #add
     */
    public void addAll(Connection connection, List<Event> events) throws SQLException {
        if (connection.getAutoCommit()) {
            throw new IllegalStateException("an outbox needs a transaction: call setAutoCommit(false) first");
        }
        if (events.isEmpty()) {
            return;
        }
        List<byte[]> payloads = events.stream().map(Outbox::payload).toList();
        try {
            lock(connection, events);
            insert(connection, events, payloads);
        } catch (SQLException e) {
            throw OutboxSchema.withMissingTableHint(e, dialect, table);
        }
    }

    private void insert(Connection connection, List<Event> events, List<byte[]> payloads) throws SQLException {
        TraceContext context = traceSupplier.get();
        long now = System.currentTimeMillis();
        String sql =
                "INSERT INTO " + table + " (id, aggregatetype, aggregateid, type, payload, traceparent, tracestate,"
                        + " created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        try (PreparedStatement insert = connection.prepareStatement(sql)) {
            for (int i = 0; i < events.size(); i++) {
                Event event = events.get(i);
                dialect.setUuid(insert, 1, event.eventId());
                insert.setString(2, event.puri().qualifiedCollection());
                insert.setString(3, event.puri().toString());
                insert.setString(4, event.change().getClass().getSimpleName());
                insert.setBytes(5, payloads.get(i));
                insert.setString(6, context == null ? null : context.storableTraceparent());
                insert.setString(7, context == null ? null : context.storableTracestate());
                insert.setLong(8, now);
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    /** Encodes an event in Avro's single-object encoding: the fingerprint of the schema, then the record. */
    private static byte[] payload(Event event) {
        try {
            ByteBuffer encoded = EventAvro.toAvro(event).toByteBuffer();
            if (encoded.remaining() > MAX_PAYLOAD_BYTES) {
                throw new IllegalArgumentException("event " + event.eventId() + " of " + event.puri() + " has "
                        + encoded.remaining() + " bytes; the maximum in an outbox is " + MAX_PAYLOAD_BYTES);
            }
            byte[] bytes = new byte[encoded.remaining()];
            encoded.get(bytes);
            return bytes;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void lock(Connection connection, List<Event> events) throws SQLException {
        List<Long> lockKeys = events.stream()
                .map(Event::puri)
                .map(puri -> dialect == Dialect.POSTGRESQL ? postgresLockKey(puri) : lockBucket(puri))
                .distinct()
                .sorted()
                .toList();
        String lockKeyList = lockKeys.stream().map(String::valueOf).collect(Collectors.joining(", "));
        // The lock keys are numbers, so they are safe within the SQL text. In PostgreSQL the upper 32 bits of a lock
        // key are the oid of the outbox table, so that different outboxes do not block each other.
        String sql = dialect == Dialect.POSTGRESQL
                ? "SELECT pg_advisory_xact_lock((" + Dialect.OID + "::bigint << 32) | k) FROM unnest(ARRAY["
                        + lockKeyList + "]::bigint[]) AS k"
                : "SELECT bucket FROM " + table + "_lock WHERE bucket IN (" + lockKeyList
                        + ") ORDER BY bucket FOR UPDATE";
        try (PreparedStatement lock = connection.prepareStatement(sql)) {
            if (dialect == Dialect.POSTGRESQL) {
                lock.setString(1, table);
            }
            // All rows must be read: with a fetch size, the database takes a lock only when the driver fetches the row.
            int lockCount = 0;
            try (ResultSet rows = lock.executeQuery()) {
                while (rows.next()) {
                    lockCount++;
                }
            }
            if (lockCount != lockKeys.size()) {
                throw new SQLException("rows are missing in the table " + table + "_lock, so the order of events is not"
                        + " guaranteed: run the INSERT of " + OutboxSchema.file(dialect) + " again");
            }
        }
    }

    private static long lockBucket(Puri puri) {
        return Math.floorMod(puri.toString().hashCode(), LOCK_BUCKETS);
    }

    /** Returns the lower 32 bits of the key of a pURI's advisory lock. */
    private static long postgresLockKey(Puri puri) {
        return puri.toString().hashCode() & 0xFFFF_FFFFL;
    }
}
