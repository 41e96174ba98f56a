package dev.puri.client.outbox;

import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.serde.GeneratedClasses;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A row of the outbox: an event to publish.
 *
 * @param seq number of the row; increases among the rows of a pURI
 * @param aggregateid the canonical pURI
 * @param payload the event in Avro's single-object encoding
 */
record OutboxRow(
        long seq,
        UUID id,
        String aggregateid,
        byte[] payload,
        @Nullable String traceparent,
        @Nullable String tracestate) {
    static {
        GeneratedClasses.trust();
    }

    static final String COLUMNS = "seq, id, aggregateid, payload, traceparent, tracestate";

    static OutboxRow read(ResultSet rows) throws SQLException {
        return new OutboxRow(
                rows.getLong(1),
                UUID.fromString(rows.getString(2)),
                rows.getString(3),
                rows.getBytes(4),
                rows.getString(5),
                rows.getString(6));
    }

    /**
     * Decodes the event.
     *
     * @throws IllegalArgumentException if the payload is not an event of this row's pURI, or was written with a schema
     *     that this build does not have
     */
    Event event() {
        Event event;
        try {
            event = EventAvro.fromAvro(IdentityEvent.fromByteBuffer(ByteBuffer.wrap(payload)));
        } catch (IOException | RuntimeException e) {
            throw new IllegalArgumentException(
                    "the payload is not an event that this build can read: " + e.getMessage(), e);
        }
        if (!event.puri().toString().equals(aggregateid)) {
            throw new IllegalArgumentException(
                    "the payload is an event of " + event.puri() + ", but the row is for " + aggregateid);
        }
        return event;
    }
}
