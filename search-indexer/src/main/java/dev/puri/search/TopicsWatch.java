package dev.puri.search;

import dev.puri.search.index.EntryKind;
import dev.puri.tail.BrokerTopic;
import dev.puri.tail.BrokerTopic.Extent;
import dev.puri.tail.BrokerTopic.UnreachableException;
import dev.puri.tail.Moment;
import dev.puri.tail.Stop;
import dev.puri.tail.SupervisedThread;
import dev.puri.tail.SupervisedThread.Pauses;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the brokers once a second how far both topics go, in a thread of its own: they may take long to answer. */
final class TopicsWatch implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(TopicsWatch.class);
    private static final Duration PERIOD = Duration.ofSeconds(1);
    private static final Duration STOP = Duration.ofSeconds(5);

    /** Kafka's own default, for brokers that do not let us ask. */
    private static final Duration TOMBSTONES_KEPT_AT_LEAST = Duration.ofDays(1);

    /** Below that every index would be too old already when it is opened. */
    private static final Duration TRUSTED_AT_LEAST = Duration.ofMinutes(1);

    private final Function<String, BrokerTopic> makes;
    private final InstantSource clock;
    private final Stop stop = new Stop();
    private final SupervisedThread thread =
            new SupervisedThread("topics-watch", stop, Pauses.of(PERIOD), this::look, this::failed);

    private volatile Map<EntryKind, BrokerTopic> topics = Map.of();
    private volatile @Nullable Sighting last;
    private volatile @Nullable Duration tombstonesKept;
    private volatile @Nullable String trouble = "not begun";

    /**
     * @param makes a view of a topic by its name
     */
    TopicsWatch(Function<String, BrokerTopic> makes, InstantSource clock) {
        this.makes = makes;
        this.clock = clock;
    }

    void start() {
        thread.start();
    }

    /** What was told last; null before. */
    @Nullable
    Sighting last() {
        return last;
    }

    /** Why nothing is told now, for people; null when it is. */
    @Nullable
    String trouble() {
        return trouble;
    }

    /** How long an index may be out of contact: tombstones are kept for a seventh longer. */
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
     * Where a topic's partitions end now, with what is not committed yet.
     *
     * @return completes on any thread; exceptionally when the brokers do not tell
     */
    CompletionStage<Map<Integer, Long>> endsOfAll(EntryKind kind) {
        BrokerTopic topic = topics.get(kind);
        Sighting seen = last;
        return topic == null || seen == null
                ? CompletableFuture.failedFuture(new IllegalStateException("the brokers were not asked yet"))
                : topic.endsOfAll(seen.of(kind).ends().keySet());
    }

    private void failed(Throwable cause) {
        if (cause instanceof UnreachableException) {
            trouble = String.valueOf(cause.getMessage());
        } else if (cause instanceof KafkaException) {
            trouble = "no client can be made: " + cause.getMessage();
        } else {
            if (!cause.toString().equals(trouble)) {
                log.error("The brokers cannot be asked for now", cause);
            }
            trouble = cause.toString();
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
        Moment at = Moment.now(clock);
        Map<EntryKind, Extent> extents = new EnumMap<>(EntryKind.class);
        Map<EntryKind, Map<Integer, Long>> begins = new EnumMap<>(EntryKind.class);
        topics.forEach((kind, topic) -> {
            Extent extent = topic.extent();
            extents.put(kind, extent);
            begins.put(kind, topic.begins(extent));
        });
        if (tombstonesKept == null) {
            tombstonesKept = tombstonesKept();
        }
        last = new Sighting(extents, begins, at);
        trouble = null;
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
        Sighting seen = last;
        return seen == null
                ? 0
                : Objects.requireNonNull(seen.extents().get(kind)).ends().size();
    }
}
