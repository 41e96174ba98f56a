package dev.puri.spring.boot;

import dev.puri.client.IdentityPublisher;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.producer.Producer;

/**
 * Kafka's metrics of the publishers' producers, under the names of Micrometer's {@link KafkaClientMetrics}. They have the tag {@code
 * spring.id}, the bean's name, because Prometheus takes meters of one name only with the same tags: Spring for Kafka binds the
 * producers of the application with this tag.
 */
final class PublisherMetrics implements MeterBinder, AutoCloseable {
    private final Map<String, IdentityPublisher> publishers;
    private final List<KafkaClientMetrics> bound = new CopyOnWriteArrayList<>();

    /**
     * @param publishers by the names of their beans
     */
    PublisherMetrics(Map<String, IdentityPublisher> publishers) {
        this.publishers = Map.copyOf(publishers);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        publishers.forEach((name, publisher) -> {
            KafkaClientMetrics metrics = new KafkaClientMetrics(producerOf(publisher), Tags.of("spring.id", name));
            bound.add(metrics);
            metrics.bindTo(registry);
        });
    }

    /**
     * KafkaClientMetrics takes a producer and asks it for nothing but its metrics. A publisher does not show its producer, because
     * events must be published by the publisher. A proxy fits the Producer interface of every Kafka version.
     */
    private static Producer<?, ?> producerOf(IdentityPublisher publisher) {
        return (Producer<?, ?>) Proxy.newProxyInstance(
                Producer.class.getClassLoader(), new Class<?>[] {Producer.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("metrics")) {
                        return publisher.metrics();
                    }
                    throw new UnsupportedOperationException(method.getName());
                });
    }

    /** Removes the meters and stops the threads that look for new metrics. */
    @Override
    public void close() {
        bound.forEach(KafkaClientMetrics::close);
    }
}
