package dev.puri.schemas.log;

import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RegisteredForm;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.jspecify.annotations.Nullable;

/**
 * Reads the values of an events topic. It does not call the schema registry, and distinguishes bytes that are not an
 * event (undecodable) from an event that breaks a rule (malformed). Thread-safe.
 *
 * <p>{@link EventDecoder} decodes the valid events of this build's schema. All others are decoded to generic Avro
 * values and validated afterwards, because Avro's conversions for generated classes accept invalid uuids, or throw
 * while decoding.
 */
public final class EventReader {
    private static final Schema REGISTERED = RegisteredForm.of(IdentityEvent.getClassSchema());

    private final RecordReader<GenericRecord> records = RecordReader.of(IdentityEvent.getClassSchema());

    /** The last writer's schema that is equal to ours, cached because comparing schemas takes longer than decoding. */
    private volatile @Nullable Schema ours;

    /** The last writer's schema that differs from ours. */
    private volatile @Nullable Schema other;

    /**
     * Reads an event.
     *
     * @param key the record's key, which most events repeat as their pURI
     * @param value a whole Kafka value, header and record
     * @param writer the schema with the header's id
     * @throws org.apache.kafka.common.errors.SerializationException if the bytes are not an event
     * @throws IllegalArgumentException if a field is invalid; the message names it
     */
    public Event read(Puri key, byte[] value, Schema writer) {
        Event event = isOurs(writer) ? EventDecoder.decode(value, key) : null;
        return event != null ? event : EventAvro.fromAvro(records.decode(value, writer));
    }

    private boolean isOurs(Schema writer) {
        if (writer == ours) {
            return true;
        }
        // Earlier releases registered the generated class's schema, which encodes to the same bytes.
        boolean isOurs =
                writer != other && (writer.equals(REGISTERED) || writer.equals(IdentityEvent.getClassSchema()));
        if (isOurs) {
            ours = writer;
        } else {
            other = writer;
        }
        return isOurs;
    }
}
