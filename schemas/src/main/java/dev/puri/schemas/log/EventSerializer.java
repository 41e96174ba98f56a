package dev.puri.schemas.log;

import dev.puri.schemas.serde.AvroSerializer;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/**
 * Serializes events in Confluent's wire format. The bytes are those that {@link AvroSerializer} writes for the Avro
 * record of the event, and the configuration is the same. Thread-safe once configured.
 */
public final class EventSerializer implements Serializer<Object> {
    private final AvroSerializer avro = new AvroSerializer();

    @Override
    public void configure(Map<String, ?> configs, boolean isKey) {
        avro.configure(configs, isKey);
    }

    /**
     * Serializes an event. The exceptions are those of {@link AvroSerializer#serialize}.
     *
     * @param data an {@link Event}, an Avro record, or null
     * @return null if the data is null
     */
    @Override
    public byte @Nullable [] serialize(String topic, @Nullable Object data) {
        if (!(data instanceof Event event)) {
            return avro.serialize(topic, data);
        }
        OptionalInt schemaId = avro.idOf(topic, EventEncoder.schema());
        // The id is unknown until the AvroSerializer has serialized an event of the topic. It stays unknown if
        // use.latest.version is on and the latest schema of the subject is not the encoder's.
        return schemaId.isPresent()
                ? EventEncoder.encode(schemaId.getAsInt(), event)
                : avro.serialize(topic, EventAvro.toAvro(event));
    }

    @Override
    public void close() {
        avro.close();
    }
}
