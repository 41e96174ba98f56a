package dev.puri.client;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Kafka's producer with the properties of an {@link IdentityPublisher}, for values that are bytes already. */
public final class BareProducer {
    private BareProducer() {}

    /**
     * Opens a producer.
     *
     * @param given properties of {@link IdentityPublisher#IdentityPublisher(Map)}
     */
    public static KafkaProducer<byte[], byte[]> open(Map<?, ?> given) {
        Map<String, Object> properties = new HashMap<>(ProducerProperties.of(given));
        properties.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        return new KafkaProducer<>(properties);
    }
}
