package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.client.CollectionRegistry.Deadline;
import dev.puri.client.CollectionRegistry.LenientDeserializer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

class CollectionRegistryTest {
    private static final Duration TIMEOUT = Duration.ofMillis(50);

    @Test
    void aRecordThatIsNotAcknowledgedFailsInTime() {
        CollectionRegistry registry = new CollectionRegistry(Map.of(), "t", TIMEOUT);
        try (MockProducer<byte[], Object> producer =
                new MockProducer<>(false, null, new ByteArraySerializer(), (topic, value) -> new byte[0])) {
            producer.initTransactions();
            assertThatThrownBy(() -> registry.write(
                            producer, List.of(new ProducerRecord<>("t", new byte[0], "v")), new Deadline(TIMEOUT)))
                    .isInstanceOf(TimeoutException.class)
                    .hasMessage("a record was not acknowledged in time");
            assertThat(producer.transactionAborted()).isTrue();
        }
    }

    @Test
    void anInterruptDoesNotMakeARecordUnreadable() {
        try (LenientDeserializer deserializer = new LenientDeserializer((topic, value) -> {
            throw new InterruptException("injected");
        })) {
            assertThatThrownBy(() -> deserializer.deserialize("t", new byte[0])).isInstanceOf(InterruptException.class);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }
}
