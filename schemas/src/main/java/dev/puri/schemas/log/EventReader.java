package dev.puri.schemas.log;

import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RegisteredForm;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.jspecify.annotations.Nullable;

/**
 * Decodes the values of an events topic. It distinguishes bytes that are not an event (undecodable) from an event with
 * an invalid field (malformed). It does not call the schema registry. Thread-safe.
 *
 * <p>{@link EventDecoder} decodes valid events of this build's schema. Other events are decoded to generic Avro records
 * and validated afterwards. Generated classes are not used here, because their conversions accept some invalid uuids
 * and throw at others before the event is decoded.
 */
public final class EventReader {
    private static final Schema REGISTERED_SCHEMA = RegisteredForm.of(IdentityEvent.getClassSchema());

    private final RecordReader<GenericRecord> genericReader = RecordReader.of(IdentityEvent.getClassSchema());

    /** The last writer schema that equals this build's. Cached, because a comparison takes longer than decoding. */
    private volatile @Nullable Schema equalSchema;

    /** The last writer schema that differs from this build's. */
    private volatile @Nullable Schema differentSchema;

    /**
     * Decodes an event.
     *
     * @param key the key of the Kafka record; reused as the event's pURI if they are equal
     * @param value the value of the Kafka record: header and Avro record
     * @param writer the schema whose id is in the header of the value
     * @throws org.apache.kafka.common.errors.SerializationException if the bytes are not an event
     * @throws IllegalArgumentException if a field is invalid; the message contains the name of the field
     */
    public Event read(Puri key, byte[] value, Schema writer) {
        Event event = isSchemaOfThisBuild(writer) ? EventDecoder.decode(value, key) : null;
        return event != null ? event : EventAvro.fromAvro(genericReader.decode(value, writer));
    }

    private boolean isSchemaOfThisBuild(Schema writer) {
        if (writer == equalSchema) {
            return true;
        }
        // Earlier releases registered the schema of the generated class. Both schemas have the same encoding.
        boolean isEqual = writer != differentSchema
                && (writer.equals(REGISTERED_SCHEMA) || writer.equals(IdentityEvent.getClassSchema()));
        if (isEqual) {
            equalSchema = writer;
        } else {
            differentSchema = writer;
        }
        return isEqual;
    }
}
