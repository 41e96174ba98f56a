package dev.puri.resolver.live;

import dev.puri.projection.PlainConsumers;
import dev.puri.resolver.feed.ChangeRecords;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** An instance's change feed: it reads the topic to its end, and then adds the changes to a ring. */
final class FollowingTable {
    private final PlainConsumers consumers;
    private final Uuid topicId;
    private final int partitions;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final Thread thread = Thread.ofPlatform().unstarted(this::run);
    private volatile boolean stopped;
    final Subscribers subscribers;

    /** Starts the feed; returns when it has a ring. */
    FollowingTable(String bootstrapServers, InMemorySchemaRegistry registry, Uuid topicId, int partitions, int history)
            throws InterruptedException {
        this.consumers = new PlainConsumers(Map.of(), bootstrapServers);
        this.topicId = topicId;
        this.partitions = partitions;
        this.subscribers = Subscribers.start(
                ChangesOptions.of(history, Duration.ofDays(1), 100, 100_000, Duration.ofMillis(100)),
                consumers,
                registry,
                InstantSource.system(),
                new SimpleMeterRegistry());
        thread.start();
        begun.await();
    }

    private void run() {
        try (Consumer<byte[], byte[]> consumer = consumers.get()) {
            List<TopicPartition> all = IntStream.range(0, partitions)
                    .mapToObj(partition -> new TopicPartition(Topics.IDENTITIES, partition))
                    .toList();
            consumer.assign(all);
            consumer.seekToBeginning(all);
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            ChangeRing ring = null;
            while (!stopped) {
                Instant polledAt = Instant.now();
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(20))) {
                    addChange(ring, record);
                }
                long[] next = all.stream().mapToLong(consumer::position).toArray();
                if (ring != null) {
                    for (int i = 0; i < next.length; i++) {
                        ring.reached(i, next[i]);
                    }
                    ring.completeAt(polledAt.minusSeconds(1));
                } else if (all.stream().allMatch(each -> next[each.partition()] >= ends.getOrDefault(each, 0L))) {
                    ring = RunningSubscribers.serve(subscribers, topicId, next, polledAt, (puri, uuid) -> true);
                    begun.countDown();
                }
            }
        }
    }

    private void addChange(@Nullable ChangeRing ring, ConsumerRecord<byte[], byte[]> record) {
        if (ring == null || !ChangeRecords.isChange(record.headers())) {
            return;
        }
        Header token = record.headers().lastHeader(Position.HEADER);
        ring.changed(
                record.partition(),
                record.offset(),
                record.key(),
                record.value(),
                token == null ? null : token.value());
    }

    void close() throws InterruptedException {
        stopped = true;
        thread.join();
        subscribers.close();
    }
}
