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
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TopicPauseTest {
    private final Set<String> missing = new HashSet<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final AtomicLong nanos = new AtomicLong();
    private final RowPublisher publisher = new RowPublisher(this::publish, () -> {}, namespace -> true, nanos::get);
    private Duration maxBlock = Duration.ZERO;

    /** Missing topics that are found missing together; asked one after the other they never are. */
    private CountDownLatch together = new CountDownLatch(0);

    @AfterEach
    void close() {
        publisher.close();
    }

    /** As with a broker that lacks some topics, and answers no record of the others. */
    private CompletionStage<Position> publish(Event event, Map<String, String> headers) {
        String namespace = event.puri().namespace();
        asked.add(namespace);
        if (!missing.contains(namespace)) {
            return new CompletableFuture<>();
        }
        together.countDown();
        try {
            assertThat(together.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
        nanos.addAndGet(maxBlock.toNanos());
        TimeoutException error = new TimeoutException("not in metadata", new UnknownTopicOrPartitionException());
        return CompletableFuture.failedFuture(new PublishException(event, namespace, "localhost:9092", error));
    }

    private static OutboxRow row(String namespace, int number) throws Exception {
        Event event = new Events("outbox-test")
                .deleted(Puri.parse(namespace + ":things:" + number))
                .build();
        ByteBuffer encoded = EventAvro.toAvro(event).toByteBuffer();
        byte[] payload = new byte[encoded.remaining()];
        encoded.get(payload);
        return new OutboxRow(number, event.eventId(), event.puri().toString(), payload, null, null);
    }

    /** Publishes a row of each namespace after a time, and returns the namespaces whose topic was asked for. */
    private List<String> wave(Duration after, String... namespaces) throws Exception {
        nanos.addAndGet(after.toNanos());
        asked.clear();
        List<OutboxRow> rows = new ArrayList<>();
        for (String namespace : namespaces) {
            rows.add(row(namespace, rows.size() + 1));
        }
        Map<OutboxRow, CompletableFuture<@Nullable Void>> answers = publisher.publish(rows);
        assertThat(answers.keySet()).containsExactlyElementsOf(rows);
        for (OutboxRow row : rows) {
            boolean isMissing = missing.contains(
                    row.aggregateid().substring(0, row.aggregateid().indexOf(':')));
            assertThat(answers)
                    .hasEntrySatisfying(
                            row,
                            answer -> assertThat(answer.isCompletedExceptionally())
                                    .isEqualTo(isMissing));
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
    void theFirstRowThatAMissingTopicRefusesEndsTheOthersOfItsWave() throws Exception {
        missing.add("gone");
        assertThat(wave(Duration.ZERO, "gone", "gone", "there", "gone", "there"))
                .containsExactlyInAnyOrder("gone", "there", "there");
    }

    /** One after the other, each would delay the relay for max.block.ms. */
    @Test
    void manyMissingTopicsTakeTheTimeOfOneAndOtherTopicsContinue() throws Exception {
        String[] namespaces = new String[256];
        Arrays.setAll(namespaces, i -> i == 128 ? "there" : "gone" + i);
        for (String each : namespaces) {
            if (!each.equals("there")) {
                missing.add(each);
            }
        }
        together = new CountDownLatch(255);
        assertThat(wave(Duration.ZERO, namespaces)).containsExactlyInAnyOrder(namespaces);
    }

    @Test
    void retryingMissingTopicsTakesATenthOfTheTime() throws Exception {
        missing.addAll(List.of("gone", "lost"));
        maxBlock = Duration.ofSeconds(10);
        assertThat(wave(Duration.ZERO, "gone")).hasSize(1);
        assertThat(wave(Duration.ZERO, "lost")).hasSize(1);
        assertThat(wave(Duration.ZERO, "gone")).as("after its pause").hasSize(1);
        assertThat(wave(Duration.ZERO, "lost", "there"))
                .as("after its pause, right after the other")
                .containsExactly("there");
        assertThat(wave(Duration.ofSeconds(89), "lost")).isEmpty();
        assertThat(wave(Duration.ofSeconds(1), "lost")).hasSize(1);
    }
}
