package dev.puri.tail;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CloseOptions;
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
 * ask for begin and end offsets ─▶ seek to the next offsets, or reset ─▶ poll; every second ask for the end offsets
 *         ▲                                                                  │ anything fails
 *         └────────────────────────── back off ◀─────────────────────────────┘
 * </pre>
 *
 * A poll that returns nothing does not distinguish a quiet topic from brokers out of reach. So the follower asks the
 * brokers for the end offsets. Once it has read up to them, its reader had everything at the time of asking, and
 * {@link #staleness} counts from that time.
 */
final class TopicFollower implements Follower {
    private static final Logger log = LoggerFactory.getLogger(TopicFollower.class);
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration LONGEST_STANDSTILL = Duration.ofSeconds(5);
    private static final Duration END_OFFSETS_PERIOD = Duration.ofSeconds(1);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration CLOSE_TIMEOUT = Duration.ofMillis(200);
    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(200), Duration.ofSeconds(5));
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

    /** Bisections of the time since 1970 that leave less than a second. */
    private static final int BISECTIONS = 32;

    private final String topic;
    private final long last;
    private final Handler handler;
    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final InstantSource clock;
    private final LongSupplier nanoTime;
    private final Stop stop = new Stop();
    private final SupervisedThread thread;

    /**
     * By partition, the offset that is read next; empty when the reading begins again. Of the follower's thread alone.
     */
    private final Map<Integer, Long> nextOffsets = new HashMap<>();

    private volatile @Nullable EndOffsets reached;
    private final FailureState trouble = new FailureState("not begun");

    /** Handles the topic's records, in the order of each partition. Called by the follower's thread. */
    interface Handler {
        /**
         * The topic is read from its beginning again: forget all records. They may be of another topic of this name.
         */
        void reset();

        /**
         * Handles one record.
         *
         * @throws RuntimeException when the record cannot be handled now; it will be handed over again
         */
        void handle(ConsumerRecord<byte[], byte[]> record);

        /** Called about once a second, also while nothing is written. */
        default void tick() {}
    }

    /** The topic cannot be followed now. The message says why. */
    private static final class NotFollowedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NotFollowedException(String message) {
            super(message);
        }
    }

    TopicFollower(
            String topic,
            long last,
            Supplier<Consumer<byte[], byte[]>> consumers,
            Handler handler,
            InstantSource clock,
            LongSupplier nanoTime,
            MeterRegistry meters) {
        this.topic = topic;
        this.last = last;
        this.consumers = consumers;
        this.handler = handler;
        this.clock = clock;
        this.nanoTime = nanoTime;
        this.thread = new SupervisedThread("tail-" + topic, stop, RETRY_POLICY, this::followOnce, this::failed);
        Gauge.builder("puri.tail.age", this, TopicFollower::stalenessInSeconds)
                .description("Since when it is not known that all of the topic was read; NaN before it ever was")
                .tag("topic", topic)
                .baseUnit("seconds")
                .register(meters);
    }

    /**
     * Starts to follow; the topic and the brokers need not be there yet.
     *
     * @param last about how many records from the end are read at first; {@link Long#MAX_VALUE} for all
     */
    static TopicFollower start(
            String topic,
            long last,
            Supplier<Consumer<byte[], byte[]>> consumers,
            Handler handler,
            InstantSource clock,
            MeterRegistry meters) {
        TopicFollower follower = new TopicFollower(topic, last, consumers, handler, clock, System::nanoTime, meters);
        follower.thread.start();
        return follower;
    }

    @Override
    public boolean hasCaughtUp() {
        return reached != null;
    }

    @Override
    public @Nullable Duration staleness() {
        EndOffsets ends = reached;
        return ends == null ? null : ends.at().age(clock);
    }

    private double stalenessInSeconds() {
        Duration staleness = staleness();
        return staleness == null ? Double.NaN : staleness.toMillis() / 1000.0;
    }

    @Override
    public @Nullable String trouble() {
        return trouble.reason();
    }

    /** Notes why an attempt failed. The next one continues from the same offsets. */
    void failed(Throwable cause) {
        if (cause instanceof OffsetOutOfRangeException) {
            nextOffsets.clear();
            inTrouble("a part was deleted before it was read");
        } else if (cause instanceof NotFollowedException || cause instanceof KafkaException) {
            inTrouble(String.valueOf(cause.getMessage()));
        } else {
            if (trouble.changeTo(cause.toString())) {
                log.error("{} cannot be followed for now", topic, cause);
            }
        }
    }

    /** Follows until the stop, a failure, or a change of the number of partitions. */
    void followOnce() {
        Consumer<byte[], byte[]> consumer = consumers.get();
        try {
            List<TopicPartition> partitions = partitions(consumer);
            consumer.assign(partitions);
            EndOffsets ends = endOffsets(consumer, partitions);
            seek(consumer, partitions, ends);
            while (!stop.isAsked() && partitions.size() == partitions(consumer).size()) {
                readTo(consumer, ends);
                handler.tick();
                ends = endOffsets(consumer, partitions);
                if (isBeyond(ends)) {
                    nextOffsets.clear();
                    throw new NotFollowedException("it was deleted and created again");
                }
            }
        } finally {
            // A close does not wait for brokers here, but an interrupted thread could not finish it.
            boolean interrupted = Thread.interrupted();
            consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT));
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private List<TopicPartition> partitions(Consumer<byte[], byte[]> consumer) {
        List<TopicPartition> partitions = consumer.partitionsFor(topic, REQUEST_TIMEOUT).stream()
                .map(info -> new TopicPartition(topic, info.partition()))
                .toList();
        if (partitions.isEmpty()) {
            nextOffsets.clear();
            throw new NotFollowedException("there is no such topic yet; 'puri topics create' makes it");
        }
        return partitions;
    }

    private EndOffsets endOffsets(Consumer<byte[], byte[]> consumer, List<TopicPartition> partitions) {
        // Before the brokers are asked: they may not report what is written while they answer.
        ObservationTime at = new ObservationTime(nanoTime.getAsLong(), clock.instant());
        return new EndOffsets(byPartition(consumer.endOffsets(partitions, REQUEST_TIMEOUT)), at);
    }

    private static Map<Integer, Long> byPartition(Map<TopicPartition, Long> offsets) {
        Map<Integer, Long> byPartition = new HashMap<>();
        offsets.forEach((partition, offset) -> byPartition.put(partition.partition(), offset));
        return byPartition;
    }

    /** Continues from the next offsets, unless the topic does not have them. */
    private void seek(Consumer<byte[], byte[]> consumer, List<TopicPartition> partitions, EndOffsets ends) {
        Map<Integer, Long> begins = byPartition(consumer.beginningOffsets(partitions, REQUEST_TIMEOUT));
        boolean canContinue = nextOffsets.keySet().equals(ends.byPartition().keySet())
                && !isBeyond(ends)
                && nextOffsets.entrySet().stream()
                        .allMatch(next -> next.getValue() >= begins.getOrDefault(next.getKey(), 0L));
        if (!canContinue) {
            reached = null;
            handler.reset();
            nextOffsets.clear();
            nextOffsets.putAll(firstOffsets(consumer, begins, ends.byPartition()));
        }
        nextOffsets.forEach((partition, offset) -> consumer.seek(new TopicPartition(topic, partition), offset));
    }

    private long nextOffset(int partition) {
        return nextOffsets.getOrDefault(partition, 0L);
    }

    private boolean isBeyond(EndOffsets ends) {
        return nextOffsets.entrySet().stream()
                .anyMatch(next -> next.getValue() > ends.byPartition().getOrDefault(next.getKey(), 0L));
    }

    /**
     * Returns the offsets from which about the last records follow, by time, since the partitions differ in length.
     * Twice as many offsets are counted: of a transaction with one record in a partition, every other offset is its
     * marker.
     */
    private Map<Integer, Long> firstOffsets(
            Consumer<byte[], byte[]> consumer, Map<Integer, Long> begins, Map<Integer, Long> ends) {
        Map<Integer, Long> found = begins;
        long wanted = last > Long.MAX_VALUE / 2 ? Long.MAX_VALUE : 2 * last;
        if (between(begins, ends) <= wanted) {
            return found;
        }
        long early = 0;
        long late = clock.millis();
        for (int i = 0; i < BISECTIONS && late - early > 1; i++) {
            long time = early + (late - early) / 2;
            Map<Integer, Long> since = offsetsSince(consumer, time, ends);
            if (between(since, ends) >= wanted) {
                found = since;
                early = time;
            } else {
                late = time;
            }
        }
        return found;
    }

    private Map<Integer, Long> offsetsSince(Consumer<byte[], byte[]> consumer, long time, Map<Integer, Long> ends) {
        Map<TopicPartition, Long> times = new HashMap<>();
        ends.keySet().forEach(partition -> times.put(new TopicPartition(topic, partition), time));
        Map<TopicPartition, OffsetAndTimestamp> answer = consumer.offsetsForTimes(times, REQUEST_TIMEOUT);
        Map<Integer, Long> since = new HashMap<>();
        ends.forEach((partition, end) -> {
            OffsetAndTimestamp first = answer.get(new TopicPartition(topic, partition));
            since.put(partition, first == null ? end : first.offset());
        });
        return since;
    }

    private static long between(Map<Integer, Long> from, Map<Integer, Long> to) {
        return to.entrySet().stream()
                .mapToLong(end -> Math.max(0, end.getValue() - from.getOrDefault(end.getKey(), 0L)))
                .sum();
    }

    /** Reads to the end offsets, and on until they are due to be asked for again. */
    private void readTo(Consumer<byte[], byte[]> consumer, EndOffsets ends) {
        boolean atEnd = false;
        long lastProgress = nanoTime.getAsLong();
        while (!stop.isAsked()) {
            Map<Integer, Long> before = Map.copyOf(nextOffsets);
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                handler.handle(record);
                nextOffsets.put(record.partition(), record.offset() + 1);
            }
            // Transaction markers take offsets too.
            nextOffsets.replaceAll(
                    (partition, offset) -> consumer.position(new TopicPartition(topic, partition), REQUEST_TIMEOUT));
            if (!atEnd && ends.isReachedBy(this::nextOffset)) {
                atEnd = true;
                reached = ends;
                trouble.clear();
            }
            long now = nanoTime.getAsLong();
            lastProgress = nextOffsets.equals(before) ? lastProgress : now;
            if (atEnd && now - ends.at().nanos() > END_OFFSETS_PERIOD.toNanos()) {
                return;
            }
            if (!atEnd && now - lastProgress > LONGEST_STANDSTILL.toNanos()) {
                throw new NotFollowedException("its end is not reached");
            }
        }
    }

    private void inTrouble(String what) {
        if (trouble.changeTo(what) && !stop.isAsked()) {
            log.warn("{}: {}", topic, what);
        }
    }

    @Override
    public void close() {
        stop.ask();
        thread.interrupt();
        if (!thread.join(STOP_TIMEOUT)) {
            log.warn("{} is still being read {} s after the stop", topic, STOP_TIMEOUT.toSeconds());
        }
    }
}
