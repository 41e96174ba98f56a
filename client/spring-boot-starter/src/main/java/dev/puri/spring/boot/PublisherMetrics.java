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
 * Binds Kafka's metrics of the publishers' producers, with the names of Micrometer's {@link KafkaClientMetrics}. The
 * meters have the tag {@code spring.id} with the bean's name, because Spring for Kafka uses this tag for the
 * application's producers, and Prometheus accepts meters with the same name only if they have the same tags.
 */
final class PublisherMetrics implements MeterBinder, AutoCloseable {
    private final Map<String, IdentityPublisher> publishers;
    private final List<KafkaClientMetrics> boundMetrics = new CopyOnWriteArrayList<>();

    /**
     * @param publishers publishers by bean name
     */
    PublisherMetrics(Map<String, IdentityPublisher> publishers) {
        this.publishers = Map.copyOf(publishers);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        publishers.forEach((name, publisher) -> {
            KafkaClientMetrics metrics = new KafkaClientMetrics(producerOf(publisher), Tags.of("spring.id", name));
            boundMetrics.add(metrics);
            metrics.bindTo(registry);
        });
    }

    /**
     * Returns a producer that only supports {@code metrics()}. KafkaClientMetrics needs a producer and calls only this
     * method. A publisher does not expose its producer, because events must be published by the publisher. A proxy
     * implements the Producer interface of every Kafka version.
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

    /** Removes the meters, and stops the threads that search for new metrics. */
    @Override
    public void close() {
        boundMetrics.forEach(KafkaClientMetrics::close);
    }
}
