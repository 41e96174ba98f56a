package dev.puri.schemas.log;

import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RegisteredForm;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.jspecify.annotations.Nullable;

/**
 * The values of an events topic, read without a word to the schema registry, so that bytes that are no
 * event (undecodable) can be told from an event that breaks a rule (malformed). Thread-safe.
 *
 * <p>{@link EventDecoder} decodes the valid events of our own schema. All others become plain Avro values and are
 * judged afterwards: in the generated class Avro's own conversion would make a uuid of texts that are none, or throw
 * amid the decoding.
 */
public final class EventReader {
    private static final Schema REGISTERED = RegisteredForm.of(IdentityEvent.getClassSchema());

    private final RecordReader<GenericRecord> records = RecordReader.of(IdentityEvent.getClassSchema());

    /** The last writer's schema that was found equal to ours: to compare two schemas takes longer than to decode. */
    private volatile @Nullable Schema ours;

    /** The last writer's schema that was found to be another. */
    private volatile @Nullable Schema other;

    /**
     * @param key the record's key, to which an event's pURI mostly is equal
     * @param value a whole Kafka value, header and record
     * @param writer the schema with the header's id
     * @throws org.apache.kafka.common.errors.SerializationException when the bytes are no event
     * @throws IllegalArgumentException when a part of the event breaks its rule; the message names the
     *     field
     */
    public Event read(Puri key, byte[] value, Schema writer) {
        Event event = isOurs(writer) ? EventDecoder.decode(value, key) : null;
        return event != null ? event : EventAvro.fromAvro(records.decode(value, writer));
    }

    private boolean isOurs(Schema writer) {
        if (writer == ours) {
            return true;
        }
        // Builds before registered the class's schema. Both have the same bytes.
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
