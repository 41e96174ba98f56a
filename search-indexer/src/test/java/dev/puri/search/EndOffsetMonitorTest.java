package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.projection.TopicAdmin;
import dev.puri.search.index.EntryKind;
import dev.puri.testkit.InMemoryTopics;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class EndOffsetMonitorTest {
    @Test
    void keepsAskingAfterAnyThrowableAndReportsIt() {
        List<Throwable> thrown = List.of(
                new OutOfMemoryError("simulated"), new IllegalStateException("a bug"), new StackOverflowError());
        AtomicInteger asked = new AtomicInteger();
        try (EndOffsetMonitor endOffsets = new EndOffsetMonitor(
                topic -> {
                    throw unchecked(thrown.get(asked.getAndIncrement() % thrown.size()));
                },
                InstantSource.system(),
                Duration.ofMillis(10))) {
            endOffsets.start();

            await().atMost(Duration.ofSeconds(30)).until(() -> asked.get() > thrown.size());
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(
                            () -> assertThat(endOffsets.failureReason()).contains("OutOfMemoryError: simulated"));
        }
    }

    @Test
    void closesTheFirstClientIfTheSecondCannotBeCreated() {
        AtomicInteger closed = new AtomicInteger();
        Admin admin = (Admin) Proxy.newProxyInstance(
                Admin.class.getClassLoader(), new Class<?>[] {Admin.class}, (proxy, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo("close");
                    closed.incrementAndGet();
                    return null;
                });
        try (EndOffsetMonitor endOffsets = new EndOffsetMonitor(
                topic -> {
                    if (topic.equals(EntryKind.DOCUMENT.topic())) {
                        throw new KafkaException("no client");
                    }
                    return new TopicAdmin(admin, topic);
                },
                InstantSource.system())) {
            assertThatThrownBy(endOffsets::askBrokers).isInstanceOf(KafkaException.class);

            assertThat(closed).hasValue(1);
        }
    }

    @Test
    void readsTheRetentionOfTombstonesAgain() {
        InMemoryTopics topics = new InMemoryTopics();
        for (EntryKind kind : EntryKind.values()) {
            topics.create(kind.topic(), 1);
        }
        AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-11-24T10:00:00Z"));
        try (EndOffsetMonitor endOffsets =
                new EndOffsetMonitor(topic -> new TopicAdmin(topics.admin(), topic), now::get)) {
            endOffsets.askBrokers();
            assertThat(endOffsets.maxIndexAge()).isEqualTo(Duration.ofDays(6));

            topics.setTombstoneRetention(Duration.ofHours(7));
            endOffsets.askBrokers();
            assertThat(endOffsets.maxIndexAge()).isEqualTo(Duration.ofDays(6));
            now.set(now.get().plusSeconds(61));
            endOffsets.askBrokers();
            assertThat(endOffsets.maxIndexAge()).isEqualTo(Duration.ofHours(6));
        }
    }

    private static RuntimeException unchecked(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return (RuntimeException) thrown;
    }
}
