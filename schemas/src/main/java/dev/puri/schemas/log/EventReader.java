package dev.puri.schemas.log;

import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.serde.RecordReader;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;

/**
 * The values of an events topic, read without a word to the schema registry, so that bytes that are no
 * event (undecodable) can be told from an event that breaks a rule (malformed). Thread-safe.
 *
 * <p>It reads plain Avro values and judges them afterwards: in the generated class Avro's own
 * conversion would make a uuid of texts that are none, or throw amid the decoding.
 */
public final class EventReader {
    private final RecordReader<GenericRecord> records = RecordReader.of(IdentityEvent.getClassSchema());

    /**
     * @param value a whole Kafka value, header and record
     * @param writer the schema with the header's id
     * @throws org.apache.kafka.common.errors.SerializationException when the bytes are no event
     * @throws IllegalArgumentException when a part of the event breaks its rule; the message names the
     *     field
     */
    public Event read(byte[] value, Schema writer) {
        return EventAvro.fromAvro(records.decode(value, writer));
    }
}
