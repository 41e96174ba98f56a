package dev.puri.schemas.log;

import dev.puri.schemas.serde.AvroSerializer;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/**
 * Events to Confluent's wire format: the bytes that {@link AvroSerializer} writes of their Avro form. Takes its
 * configuration. Thread-safe once configured.
 */
public final class EventSerializer implements Serializer<Object> {
    private final AvroSerializer avro = new AvroSerializer();

    @Override
    public void configure(Map<String, ?> configs, boolean isKey) {
        avro.configure(configs, isKey);
    }

    /**
     * Throws what {@link AvroSerializer#serialize} throws.
     *
     * @param data an {@link Event}; null for null
     */
    @Override
    public byte @Nullable [] serialize(String topic, @Nullable Object data) {
        if (!(data instanceof Event event)) {
            return avro.serialize(topic, data);
        }
        OptionalInt schemaId = avro.idOf(topic, EventEncoder.schema());
        // The first event of a topic asks the schema registry, and a subject's latest schema may be another one.
        return schemaId.isPresent()
                ? EventEncoder.encode(schemaId.getAsInt(), event)
                : avro.serialize(topic, EventAvro.toAvro(event));
    }

    @Override
    public void close() {
        avro.close();
    }
}
