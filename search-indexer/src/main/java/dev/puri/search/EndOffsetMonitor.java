package dev.puri.search;

import dev.puri.projection.EndOffsets;
import dev.puri.projection.FailureState;
import dev.puri.projection.ObservationTime;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.Stop;
import dev.puri.projection.SupervisedThread;
import dev.puri.projection.TopicAdmin;
import dev.puri.projection.TopicAdmin.TopicUnavailableException;
import dev.puri.projection.TopicEnds;
import dev.puri.search.index.EntryKind;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the brokers for the {@link SourceOffsets} once a second. It uses its own thread, because the
 * responses may take long. Thread-safe.
 */
final class EndOffsetMonitor implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(EndOffsetMonitor.class);
    private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);
    private static final Duration RETENTION_POLL_INTERVAL = Duration.ofMinutes(1);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

    /** Kafka's default. Assumed if this principal may not read the configuration of the topics. */
    private static final Duration DEFAULT_TOMBSTONE_RETENTION = Duration.ofDays(1);

    /** With a shorter age, every index would be too old when it is opened. */
    private static final Duration MIN_INDEX_AGE = Duration.ofMinutes(1);

    private final Function<String, TopicAdmin> topicFactory;
    private final InstantSource clock;
    private final Stop stop = new Stop();
    private final SupervisedThread thread;

    private volatile Map<EntryKind, TopicAdmin> topics = Map.of();
    private volatile @Nullable SourceOffsets lastOffsets;
    private volatile @Nullable Duration tombstoneRetention;

    /** Only for the thread. */
    private @Nullable ObservationTime retentionReadAt;

    private final FailureState failure = new FailureState("the brokers were not asked yet");

    /**
     * @param topicFactory creates the admin client of a topic with this name
     */
    EndOffsetMonitor(Function<String, TopicAdmin> topicFactory, InstantSource clock) {
        this(topicFactory, clock, POLL_INTERVAL);
    }

    /**
     * For tests.
     *
     * @param pollInterval the time between two requests
     */
    EndOffsetMonitor(Function<String, TopicAdmin> topicFactory, InstantSource clock, Duration pollInterval) {
        this.topicFactory = topicFactory;
        this.clock = clock;
        thread = new SupervisedThread(
                "end-offsets", stop, RetryPolicy.fixed(pollInterval), this::askBrokers, this::onFailure);
    }

    void start() {
        thread.start();
    }

    /** Returns the offsets that the brokers reported last; null before the first response. */
    @Nullable
    SourceOffsets lastOffsets() {
        return lastOffsets;
    }

    /** Returns the human-readable reason why the brokers do not report the offsets; null if they do. */
    @Nullable
    String failureReason() {
        return failure.reason();
    }

    /**
     * Returns how long ago an index may have been complete without a rebuild. An older index may have missed
     * tombstones: the brokers keep tombstones for seven sixths of this time. Returns null before the first response.
     */
    @Nullable
    Duration maxIndexAge() {
        Duration retention = tombstoneRetention;
        if (retention == null) {
            return null;
        }
        Duration maxIndexAge = retention.minus(retention.dividedBy(7));
        return maxIndexAge.compareTo(MIN_INDEX_AGE) < 0 ? MIN_INDEX_AGE : maxIndexAge;
    }

    /**
     * Asks for the high watermark of each partition of the documents' topic, by partition. Unlike the end offset, it
     * includes records of open transactions.
     *
     * @return completes on any thread; exceptionally if the brokers do not answer. The caller may complete it earlier
     */
    CompletableFuture<Map<Integer, Long>> documentHighWatermarks() {
        TopicAdmin documents = topics.get(EntryKind.DOCUMENT);
        SourceOffsets offsets = lastOffsets;
        return documents == null || offsets == null
                ? CompletableFuture.failedFuture(new IllegalStateException("the brokers were not asked yet"))
                : documents.requestHighWatermarks(
                        offsets.endsOf(EntryKind.DOCUMENT).byPartition().keySet());
    }

    private void onFailure(Throwable cause) {
        if (cause instanceof TopicUnavailableException) {
            failure.changeTo(String.valueOf(cause.getMessage()));
        } else if (cause instanceof KafkaException) {
            failure.changeTo("the admin client failed: " + cause.getMessage());
        } else if (failure.changeTo(cause.toString())) {
            log.error("Requesting the end offsets failed; will retry", cause);
        }
    }

    /** Asks the brokers once. */
    void askBrokers() {
        if (topics.isEmpty()) {
            topics = createTopics();
        }
        ObservationTime observedAt = ObservationTime.now(clock);
        Map<EntryKind, TopicEnds> ends = new EnumMap<>(EntryKind.class);
        Map<EntryKind, Map<Integer, Long>> begins = new EnumMap<>(EntryKind.class);
        topics.forEach((kind, topic) -> {
            TopicEnds topicEnds = topic.endOffsets(clock);
            ends.put(kind, topicEnds);
            begins.put(kind, topic.beginningOffsets(topicEnds));
        });
        if (retentionReadAt == null || retentionReadAt.age(clock).compareTo(RETENTION_POLL_INTERVAL) > 0) {
            tombstoneRetention = tombstoneRetention();
            retentionReadAt = observedAt;
        }
        Map<Integer, Long> documentHighWatermarks = Objects.requireNonNull(topics.get(EntryKind.DOCUMENT))
                .highWatermarks(Objects.requireNonNull(ends.get(EntryKind.DOCUMENT))
                        .byPartition()
                        .keySet());
        lastOffsets = new SourceOffsets(ends, begins, new EndOffsets(documentHighWatermarks, observedAt), observedAt);
        failure.clear();
    }

    private Map<EntryKind, TopicAdmin> createTopics() {
        Map<EntryKind, TopicAdmin> created = new EnumMap<>(EntryKind.class);
        try {
            for (EntryKind kind : EntryKind.values()) {
                created.put(kind, topicFactory.apply(kind.topic()));
            }
            return created;
        } catch (RuntimeException | Error e) {
            // Otherwise each retry would leave a client with its thread.
            created.values().forEach(TopicAdmin::close);
            throw e;
        }
    }

    private Duration tombstoneRetention() {
        try {
            return topics.values().stream()
                    .map(TopicAdmin::tombstoneRetention)
                    .min(Duration::compareTo)
                    .orElseThrow();
        } catch (TopicUnavailableException e) {
            Duration last = tombstoneRetention;
            if (last == null && !e.isForbidden()) {
                throw e;
            }
            return last == null ? DEFAULT_TOMBSTONE_RETENTION : last;
        }
    }

    @Override
    public void close() {
        stop.request();
        topics.values().forEach(TopicAdmin::close);
        if (!thread.join(STOP_TIMEOUT)) {
            thread.interrupt();
        }
        // The thread may have created them meanwhile.
        topics.values().forEach(TopicAdmin::close);
    }

    /** Returns the number of partitions of a topic; 0 before the first response. */
    int partitions(EntryKind kind) {
        SourceOffsets offsets = lastOffsets;
        return offsets == null ? 0 : offsets.partitions(kind);
    }
}
