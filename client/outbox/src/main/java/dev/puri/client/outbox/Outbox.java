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
 * Writes events in the transaction of the change that they report. They are published if it commits, and not if it is
 * rolled back. An {@link OutboxRelay} publishes them.
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
 * transaction in the order in which they were added. For that {@code add} locks the pURI until the transaction ends:
 * another transaction that adds an event of the same pURI waits. Two transactions that add events of the same pURIs in
 * different orders can deadlock, and the database then ends one of them; {@link #addAll} locks in one order. In PostgreSQL
 * each pURI of a transaction takes one place in the lock table (some 6,400 by default), so a bulk load should commit every
 * 1,000 events.
 *
 * <p>Adding needs neither the broker nor the schema registry. Immutable and thread-safe.
 */
public final class Outbox {
    /** Largest encoded event, in bytes. The registry refuses events beyond 128 KiB. */
    public static final int MAX_PAYLOAD_BYTES = 512 * 1024;

    private static final int BUCKETS = 10_000;

    private final Dialect dialect;
    private final String table;
    private final Supplier<@Nullable TraceContext> trace;

    /** An outbox in the table {@value OutboxSchema#DEFAULT_TABLE}, without traces. */
    public Outbox(Dialect dialect) {
        this(dialect, OutboxSchema.DEFAULT_TABLE, () -> null);
    }

    /**
     * @param table as {@link OutboxSchema#sql(Dialect, String)} takes it
     * @param trace returns the trace of the calling thread, or null; every call of {@code add} asks it
     * @throws IllegalArgumentException when the table's name has another form
     */
    public Outbox(Dialect dialect, String table, Supplier<@Nullable TraceContext> trace) {
        this.dialect = dialect;
        this.table = OutboxSchema.requireTable(table);
        this.trace = trace;
    }

    /**
     * Adds an event to the transaction of a connection.
     *
     * @throws SQLException when the database refuses it; the transaction should then be rolled back
     * @throws IllegalStateException when the connection commits by itself, and so has no transaction
     * @throws IllegalArgumentException when the event is larger than {@link #MAX_PAYLOAD_BYTES}
     */
    public void add(Connection connection, Event event) throws SQLException {
        addAll(connection, List.of(event));
    }

    /**
     * Adds events to the transaction of a connection, in this order, with two statements in all.
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
            throw OutboxSchema.explained(e, dialect, table);
        }
    }

    private void insert(Connection connection, List<Event> events, List<byte[]> payloads) throws SQLException {
        TraceContext context = trace.get();
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
                insert.setString(6, context == null ? null : context.storedParent());
                insert.setString(7, context == null ? null : context.storedState());
                insert.setLong(8, now);
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    /** Encodes an event in Avro's single-object encoding: a fingerprint of the schema, then the record. */
    private static byte[] payload(Event event) {
        try {
            ByteBuffer encoded = EventAvro.toAvro(event).toByteBuffer();
            if (encoded.remaining() > MAX_PAYLOAD_BYTES) {
                throw new IllegalArgumentException("event " + event.eventId() + " of " + event.puri() + " has "
                        + encoded.remaining() + " bytes; an outbox takes " + MAX_PAYLOAD_BYTES);
            }
            byte[] bytes = new byte[encoded.remaining()];
            encoded.get(bytes);
            return bytes;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void lock(Connection connection, List<Event> events) throws SQLException {
        List<Long> numbers = events.stream()
                .map(Event::puri)
                .map(puri -> dialect == Dialect.POSTGRESQL ? hash(puri) : bucket(puri))
                .distinct()
                .sorted()
                .toList();
        String keys = numbers.stream().map(String::valueOf).collect(Collectors.joining(", "));
        // The keys are numbers and need no parameters. The upper half has the oid, to keep outboxes apart.
        String sql = dialect == Dialect.POSTGRESQL
                ? "SELECT pg_advisory_xact_lock((" + Dialect.OID + "::bigint << 32) | k) FROM unnest(ARRAY[" + keys
                        + "]::bigint[]) AS k"
                : "SELECT bucket FROM " + table + "_lock WHERE bucket IN (" + keys + ") ORDER BY bucket FOR UPDATE";
        try (PreparedStatement lock = connection.prepareStatement(sql)) {
            if (dialect == Dialect.POSTGRESQL) {
                lock.setString(1, table);
            }
            // With a fetch size, a driver takes the locks only as the rows are read.
            int locked = 0;
            try (ResultSet rows = lock.executeQuery()) {
                while (rows.next()) {
                    locked++;
                }
            }
            if (locked != numbers.size()) {
                throw new SQLException("the table " + table + "_lock has lost rows, so nothing keeps the order of the"
                        + " outbox: run the INSERT of its migration again");
            }
        }
    }

    private static long bucket(Puri puri) {
        return Math.floorMod(puri.toString().hashCode(), BUCKETS);
    }

    /** The lower half of the key of a pURI's advisory lock. */
    private static long hash(Puri puri) {
        return puri.toString().hashCode() & 0xFFFF_FFFFL;
    }
}
