package dev.puri.client;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Opens a Kafka producer with the properties of an {@link IdentityPublisher}, for encoded values. */
public final class BareProducer {
    private BareProducer() {}

    /**
     * Opens a producer.
     *
     * @param config properties of {@link IdentityPublisher#IdentityPublisher(Map)}
     */
    public static KafkaProducer<byte[], byte[]> open(Map<?, ?> config) {
        Map<String, Object> properties = new HashMap<>(ProducerProperties.of(config));
        properties.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        return new KafkaProducer<>(properties);
    }
}
