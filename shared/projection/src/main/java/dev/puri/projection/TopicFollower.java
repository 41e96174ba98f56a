package dev.puri.projection;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows a topic with one consumer and one thread until it is closed:
 *
 * <pre>
 * get beginning and end offsets ─▶ seek to the next offsets, or reset ─▶ poll; get the end offsets every second
 *         ▲                                                                  │ anything fails
 *         └────────────────────────── back off ◀─────────────────────────────┘
 * </pre>
 *
 * If a poll returns nothing, the topic may be quiet or the brokers may be unavailable. So the follower requests the end
 * offsets, from which {@link Staleness} tells how stale the handler's data is.
 */
final class TopicFollower implements Follower {
    static final long ALL_RECORDS = Long.MAX_VALUE;

    private static final Logger log = LoggerFactory.getLogger(TopicFollower.class);
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration MAX_TIME_WITHOUT_PROGRESS = Duration.ofSeconds(5);
    private static final Duration END_OFFSETS_PERIOD = Duration.ofSeconds(1);
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(200);
    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(200), Duration.ofSeconds(5));
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

    /** The maximum number of steps to bisect the time since 1970: the last interval is shorter than a second. */
    private static final int MAX_BISECTIONS = 32;

    private final String topic;
    private final long initialRecords;
    private final Handler handler;
    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final InstantSource clock;
    private final LongSupplier nanoTime;
    private final Stop stop = new Stop();
    private final SupervisedThread thread;
    private final Staleness<EndOffsets> staleness;

    /**
     * The offset that is read next, by partition; empty if the topic must be read from the start. Used by the
     * follower's thread only.
     */
    private final Map<Integer, Long> nextOffsets = new HashMap<>();

    private final FailureState failure = new FailureState("not begun");

    /** Handles the topic's records, in the order of each partition. Called by the follower's thread. */
    interface Handler {
        /**
         * Discards all records, because the topic is read from the start again. It may be another topic of this name.
         */
        void reset();

        /**
         * Handles one record.
         *
         * @throws RuntimeException if the record cannot be handled now; the follower will pass the record again
         */
        void handle(ConsumerRecord<byte[], byte[]> record);

        /** Called about once a second, even if there are no records. */
        default void tick() {}
    }

    /** The topic cannot be read now. The message says why. */
    private static final class CannotFollowException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        CannotFollowException(String message) {
            super(message);
        }
    }

    TopicFollower(
            String topic,
            long initialRecords,
            Supplier<Consumer<byte[], byte[]>> consumers,
            Handler handler,
            InstantSource clock,
            LongSupplier nanoTime,
            MeterRegistry meters) {
        this.topic = topic;
        this.initialRecords = initialRecords;
        this.consumers = consumers;
        this.handler = handler;
        this.clock = clock;
        this.nanoTime = nanoTime;
        this.thread = new SupervisedThread("follower-" + topic, stop, RETRY_POLICY, this::followOnce, this::onFailure);
        this.staleness = new Staleness<>(EndOffsets::at, ends -> ends.isReachedBy(this::nextOffset), clock);
        Gauge.builder("puri.tail.age", staleness, Staleness::seconds)
                .description("Time since the whole topic was last known to be read; NaN before the first time")
                .tag("topic", topic)
                .baseUnit("seconds")
                .register(meters);
    }

    /**
     * Starts to follow the topic. The topic may not exist yet, and the brokers may be unavailable.
     *
     * @param initialRecords the approximate number of records before the end that are read first; {@link
     *     #ALL_RECORDS} for all
     */
    static TopicFollower start(
            String topic,
            long initialRecords,
            Supplier<Consumer<byte[], byte[]>> consumers,
            Handler handler,
            InstantSource clock,
            MeterRegistry meters) {
        TopicFollower follower =
                new TopicFollower(topic, initialRecords, consumers, handler, clock, System::nanoTime, meters);
        follower.thread.start();
        return follower;
    }

    @Override
    public boolean hasCaughtUp() {
        return staleness.hasCaughtUp();
    }

    @Override
    public @Nullable Duration staleness() {
        return staleness.duration();
    }

    @Override
    public @Nullable String failureReason() {
        return failure.reason();
    }

    /** Notes why an attempt failed. The next attempt continues from the same offsets. */
    void onFailure(Throwable cause) {
        if (cause instanceof OffsetOutOfRangeException) {
            nextOffsets.clear();
            setFailure("records were deleted before they were read");
        } else if (cause instanceof CannotFollowException || cause instanceof KafkaException) {
            setFailure(String.valueOf(cause.getMessage()));
        } else {
            if (failure.changeTo(cause.toString())) {
                log.error("{} cannot be read now", topic, cause);
            }
        }
    }

    /** Follows the topic until the stop, a failure, or a change of the number of partitions. */
    void followOnce() {
        Consumer<byte[], byte[]> consumer = consumers.get();
        try {
            List<TopicPartition> partitions = partitions(consumer);
            consumer.assign(partitions);
            EndOffsets ends = endOffsets(consumer, partitions);
            seek(consumer, partitions, ends);
            while (!stop.isRequested()
                    && partitions.size() == partitions(consumer).size()) {
                readTo(consumer, ends);
                handler.tick();
                ends = endOffsets(consumer, partitions);
                // Without log start offsets, because the consumer reports records that were deleted.
                if (TopicMismatch.find(nextOffsets, Map.of(), ends.byPartition()) != null) {
                    nextOffsets.clear();
                    throw new CannotFollowException("the topic was deleted and created again");
                }
            }
        } finally {
            PlainConsumers.close(consumer);
        }
    }

    private List<TopicPartition> partitions(Consumer<byte[], byte[]> consumer) {
        List<TopicPartition> partitions = consumer.partitionsFor(topic, REQUEST_TIMEOUT).stream()
                .map(info -> new TopicPartition(topic, info.partition()))
                .toList();
        if (partitions.isEmpty()) {
            nextOffsets.clear();
            throw new CannotFollowException("there is no such topic yet; 'puri topics create' creates it");
        }
        return partitions;
    }

    private EndOffsets endOffsets(Consumer<byte[], byte[]> consumer, List<TopicPartition> partitions) {
        // Taken before the request: the response may lack records that are written meanwhile.
        ObservationTime at = new ObservationTime(nanoTime.getAsLong(), clock.instant());
        return new EndOffsets(byPartition(consumer.endOffsets(partitions, REQUEST_TIMEOUT)), at);
    }

    private static Map<Integer, Long> byPartition(Map<TopicPartition, Long> offsets) {
        Map<Integer, Long> byPartition = new HashMap<>();
        offsets.forEach((partition, offset) -> byPartition.put(partition.partition(), offset));
        return byPartition;
    }

    /** Continues from the next offsets; starts again if the topic does not have them. */
    private void seek(Consumer<byte[], byte[]> consumer, List<TopicPartition> partitions, EndOffsets ends) {
        Map<Integer, Long> beginnings = byPartition(consumer.beginningOffsets(partitions, REQUEST_TIMEOUT));
        if (TopicMismatch.find(nextOffsets, beginnings, ends.byPartition()) != null) {
            staleness.reset();
            handler.reset();
            nextOffsets.clear();
            nextOffsets.putAll(firstOffsets(consumer, beginnings, ends.byPartition()));
        }
        nextOffsets.forEach((partition, offset) -> consumer.seek(new TopicPartition(topic, partition), offset));
    }

    private long nextOffset(int partition) {
        return nextOffsets.getOrDefault(partition, 0L);
    }

    /**
     * Returns the offsets after which approximately {@code initialRecords} records follow. Partitions differ in length,
     * so the method bisects the time, and takes the offsets of one time in all partitions. The target is twice as many
     * offsets as records, because every second offset may be a transaction marker.
     */
    private Map<Integer, Long> firstOffsets(
            Consumer<byte[], byte[]> consumer, Map<Integer, Long> beginnings, Map<Integer, Long> ends) {
        Map<Integer, Long> best = beginnings;
        long targetCount = initialRecords > Long.MAX_VALUE / 2 ? Long.MAX_VALUE : 2 * initialRecords;
        if (countOffsets(beginnings, ends) <= targetCount) {
            return best;
        }
        long lowMillis = 0;
        long highMillis = clock.millis();
        for (int i = 0; i < MAX_BISECTIONS && highMillis - lowMillis > 1; i++) {
            long middleMillis = lowMillis + (highMillis - lowMillis) / 2;
            Map<Integer, Long> offsets = offsetsAtTime(consumer, middleMillis, ends);
            if (countOffsets(offsets, ends) >= targetCount) {
                best = offsets;
                lowMillis = middleMillis;
            } else {
                highMillis = middleMillis;
            }
        }
        return best;
    }

    private Map<Integer, Long> offsetsAtTime(Consumer<byte[], byte[]> consumer, long millis, Map<Integer, Long> ends) {
        Map<TopicPartition, Long> times = new HashMap<>();
        ends.keySet().forEach(partition -> times.put(new TopicPartition(topic, partition), millis));
        Map<TopicPartition, OffsetAndTimestamp> response = consumer.offsetsForTimes(times, REQUEST_TIMEOUT);
        Map<Integer, Long> offsets = new HashMap<>();
        ends.forEach((partition, end) -> {
            OffsetAndTimestamp first = response.get(new TopicPartition(topic, partition));
            offsets.put(partition, first == null ? end : first.offset());
        });
        return offsets;
    }

    private static long countOffsets(Map<Integer, Long> from, Map<Integer, Long> to) {
        return to.entrySet().stream()
                .mapToLong(end -> Math.max(0, end.getValue() - from.getOrDefault(end.getKey(), 0L)))
                .sum();
    }

    /** Reads to the end offsets, then continues until the end offsets are older than {@link #END_OFFSETS_PERIOD}. */
    private void readTo(Consumer<byte[], byte[]> consumer, EndOffsets ends) {
        staleness.observe(ends);
        boolean isAtEnd = false;
        long lastProgressNanos = nanoTime.getAsLong();
        while (!stop.isRequested()) {
            Map<Integer, Long> previousOffsets = Map.copyOf(nextOffsets);
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL_TIMEOUT)) {
                handler.handle(record);
                nextOffsets.put(record.partition(), record.offset() + 1);
            }
            // Transaction markers are not returned as records, but they have offsets.
            nextOffsets.replaceAll(
                    (partition, offset) -> consumer.position(new TopicPartition(topic, partition), REQUEST_TIMEOUT));
            if (!isAtEnd && staleness.advance()) {
                isAtEnd = true;
                failure.clear();
            }
            long nowNanos = nanoTime.getAsLong();
            lastProgressNanos = nextOffsets.equals(previousOffsets) ? lastProgressNanos : nowNanos;
            if (isAtEnd && nowNanos - ends.at().nanos() > END_OFFSETS_PERIOD.toNanos()) {
                return;
            }
            if (!isAtEnd && nowNanos - lastProgressNanos > MAX_TIME_WITHOUT_PROGRESS.toNanos()) {
                throw new CannotFollowException("reading makes no progress, although the end is not reached");
            }
        }
    }

    private void setFailure(String reason) {
        if (failure.changeTo(reason) && !stop.isRequested()) {
            log.warn("{} cannot be read: {}", topic, reason);
        }
    }

    @Override
    public void close() {
        stop.request();
        thread.interrupt();
        if (!thread.join(STOP_TIMEOUT)) {
            log.warn("{} is still being read {} s after the stop", topic, STOP_TIMEOUT.toSeconds());
        }
    }
}
