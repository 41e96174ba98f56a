package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.client.Events;
import dev.puri.client.PublishException;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Position;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.Test;

class TopicPauseTest {
    private final Set<String> missing = new HashSet<>();
    private final List<String> asked = new ArrayList<>();
    private long nanos;
    private final RowPublisher publisher = new RowPublisher(this::publish, () -> {}, namespace -> true, () -> nanos);

    /** As with a broker that lacks some topics, and answers no record of the others. */
    private CompletionStage<Position> publish(Event event, Map<String, String> headers) {
        String namespace = event.puri().namespace();
        asked.add(namespace);
        TimeoutException error = new TimeoutException("not in metadata", new UnknownTopicOrPartitionException());
        return missing.contains(namespace)
                ? CompletableFuture.failedFuture(new PublishException(event, namespace, "localhost:9092", error))
                : new CompletableFuture<>();
    }

    private static OutboxRow row(String namespace) throws Exception {
        Event event = new Events("outbox-test")
                .deleted(Puri.parse(namespace + ":things:1"))
                .build();
        ByteBuffer encoded = EventAvro.toAvro(event).toByteBuffer();
        byte[] payload = new byte[encoded.remaining()];
        encoded.get(payload);
        return new OutboxRow(1, event.eventId(), event.puri().toString(), payload, null, null);
    }

    /** Publishes a row of each namespace after a time, and returns the namespaces whose topic was asked for. */
    private List<String> wave(Duration after, String... namespaces) throws Exception {
        nanos += after.toNanos();
        asked.clear();
        publisher.beginWave();
        for (String namespace : namespaces) {
            var unused = publisher.publish(row(namespace));
        }
        return List.copyOf(asked);
    }

    @Test
    void thePauseOfAMissingTopicDoublesUntilItIsThere() throws Exception {
        missing.add("gone");
        assertThat(wave(Duration.ZERO, "gone")).hasSize(1);
        assertThat(wave(Duration.ofSeconds(9), "gone")).isEmpty();
        assertThat(wave(Duration.ofSeconds(1), "gone")).hasSize(1);
        assertThat(wave(Duration.ofSeconds(19), "gone")).isEmpty();
        assertThat(wave(Duration.ofSeconds(1), "gone")).hasSize(1);
        for (int i = 0; i < 10; i++) {
            assertThat(wave(Duration.ofMinutes(5), "gone")).hasSize(1);
        }
        missing.clear();
        assertThat(wave(Duration.ofMinutes(5), "gone")).hasSize(1);
        assertThat(wave(Duration.ZERO, "gone")).hasSize(1);
    }

    @Test
    void aWaveAsksOneMissingTopicAgain() throws Exception {
        missing.addAll(List.of("gone", "lost"));
        assertThat(wave(Duration.ZERO, "gone", "lost")).hasSize(2);
        assertThat(wave(Duration.ofSeconds(10), "gone", "lost", "there")).containsExactly("gone", "there");
        assertThat(wave(Duration.ZERO, "gone", "lost")).containsExactly("lost");
    }
}
