package dev.puri.search;

import dev.puri.search.index.EntryKind;
import dev.puri.tail.BrokerTopic;
import dev.puri.tail.BrokerTopic.UnreachableException;
import dev.puri.tail.FailureState;
import dev.puri.tail.ObservationTime;
import dev.puri.tail.RetryPolicy;
import dev.puri.tail.Stop;
import dev.puri.tail.SupervisedThread;
import dev.puri.tail.TopicEnds;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the brokers for the end offsets of both topics once a second, in a thread of its own since that may take long.
 */
final class EndOffsetMonitor implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(EndOffsetMonitor.class);
    private static final Duration PERIOD = Duration.ofSeconds(1);
    private static final Duration STOP = Duration.ofSeconds(5);

    /** Kafka's default, for brokers that do not let this principal ask. */
    private static final Duration TOMBSTONES_KEPT_AT_LEAST = Duration.ofDays(1);

    /** With less, every index would be too old when it is opened. */
    private static final Duration TRUSTED_AT_LEAST = Duration.ofMinutes(1);

    private final Function<String, BrokerTopic> makes;
    private final InstantSource clock;
    private final Stop stop = new Stop();
    private final SupervisedThread thread =
            new SupervisedThread("end-offsets", stop, RetryPolicy.fixed(PERIOD), this::look, this::failed);

    private volatile Map<EntryKind, BrokerTopic> topics = Map.of();
    private volatile @Nullable SourceOffsets last;
    private volatile @Nullable Duration tombstonesKept;
    private final FailureState trouble = new FailureState("not begun");

    /**
     * @param makes creates an admin's view of a topic by its name
     */
    EndOffsetMonitor(Function<String, BrokerTopic> makes, InstantSource clock) {
        this.makes = makes;
        this.clock = clock;
    }

    void start() {
        thread.start();
    }

    /** The offsets that the brokers reported last; null before. */
    @Nullable
    SourceOffsets last() {
        return last;
    }

    /** Why the brokers do not report the offsets now, for people; null when they do. */
    @Nullable
    String trouble() {
        return trouble.reason();
    }

    /**
     * How long an index may be without contact to its topics; brokers keep tombstones for a sixth longer. Null before.
     */
    @Nullable
    Duration trusted() {
        Duration kept = tombstonesKept;
        if (kept == null) {
            return null;
        }
        Duration trusted = kept.minus(kept.dividedBy(7));
        return trusted.compareTo(TRUSTED_AT_LEAST) < 0 ? TRUSTED_AT_LEAST : trusted;
    }

    /**
     * The high watermark of each partition of a topic: its end with records that are not committed yet.
     *
     * @return completes on any thread; exceptionally when the brokers do not answer
     */
    CompletionStage<Map<Integer, Long>> highWatermarks(EntryKind kind) {
        BrokerTopic topic = topics.get(kind);
        SourceOffsets seen = last;
        return topic == null || seen == null
                ? CompletableFuture.failedFuture(new IllegalStateException("the brokers were not asked yet"))
                : topic.highWatermarks(seen.endsOf(kind).byPartition().keySet());
    }

    private void failed(Throwable cause) {
        if (cause instanceof UnreachableException) {
            trouble.changeTo(String.valueOf(cause.getMessage()));
        } else if (cause instanceof KafkaException) {
            trouble.changeTo("no client can be made: " + cause.getMessage());
        } else if (trouble.changeTo(cause.toString())) {
            log.error("The brokers cannot be asked for now", cause);
        }
    }

    private void look() {
        if (topics.isEmpty()) {
            Map<EntryKind, BrokerTopic> made = new EnumMap<>(EntryKind.class);
            for (EntryKind kind : EntryKind.values()) {
                made.put(kind, makes.apply(kind.topic()));
            }
            topics = made;
        }
        ObservationTime at = ObservationTime.now(clock);
        Map<EntryKind, TopicEnds> ends = new EnumMap<>(EntryKind.class);
        Map<EntryKind, Map<Integer, Long>> begins = new EnumMap<>(EntryKind.class);
        topics.forEach((kind, topic) -> {
            TopicEnds each = topic.ends(clock);
            ends.put(kind, each);
            begins.put(kind, topic.begins(each));
        });
        if (tombstonesKept == null) {
            tombstonesKept = tombstonesKept();
        }
        last = new SourceOffsets(ends, begins, at);
        trouble.clear();
    }

    private Duration tombstonesKept() {
        try {
            return topics.values().stream()
                    .map(BrokerTopic::tombstonesKept)
                    .min(Duration::compareTo)
                    .orElseThrow();
        } catch (UnreachableException e) {
            if (e.isForbidden()) {
                return TOMBSTONES_KEPT_AT_LEAST;
            }
            throw e;
        }
    }

    @Override
    public void close() {
        stop.ask();
        topics.values().forEach(BrokerTopic::close);
        if (!thread.join(STOP)) {
            thread.interrupt();
        }
    }

    /** The partitions of a topic; 0 before they are known. */
    int partitions(EntryKind kind) {
        SourceOffsets seen = last;
        return seen == null ? 0 : seen.endsOf(kind).byPartition().size();
    }
}
