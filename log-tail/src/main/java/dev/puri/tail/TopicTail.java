package dev.puri.tail;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
 * Follows a topic with one consumer and one thread, for as long as it is not closed:
 *
 * <pre>
 * ask where the topic begins and ends ─▶ go on where it stood, or anew ─▶ poll, and each second ask for the ends
 *         ▲                                                                        │ anything fails
 *         └───────────────────────────── pause ◀───────────────────────────────────┘
 * </pre>
 *
 * A poll that gives nothing does not tell a quiet topic from brokers out of reach. So the brokers are
 * asked for the topic's ends; once those are reached, it is known that at the time of asking nothing
 * was missing, and that time is what {@link #age} counts from.
 */
final class TopicTail implements Hearing {
    private static final Logger log = LoggerFactory.getLogger(TopicTail.class);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration CLOSE = Duration.ofMillis(200);
    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(200), Duration.ofSeconds(5));
    private static final Duration STOP = Duration.ofSeconds(10);

    /** Halvings of the time since 1970 that leave less than a second. */
    private static final int HALVINGS = 32;

    private final String topic;
    private final long last;
    private final Reader reader;
    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final InstantSource clock;
    private final Stop stop = new Stop();
    private final SupervisedThread thread;

    /** What is read next, of the tail's thread; empty when the topic is to be read anew. */
    private final Map<TopicPartition, Long> next = new HashMap<>();

    private volatile @Nullable Sighting reached;
    private volatile @Nullable String trouble = "not begun";

    /** Takes the topic's records, in the order of each partition, by the tail's thread. */
    interface Reader {
        /** The topic is read anew; what came before may be of another topic. */
        void anew();

        /**
         * Takes one record.
         *
         * @throws RuntimeException when it cannot be taken now; it will be given again
         */
        void take(ConsumerRecord<byte[], byte[]> record);

        /** Called again and again, about once a second, also while nothing is written. */
        default void tick() {}
    }

    /**
     * The ends of a topic.
     *
     * @param at when they were asked for
     */
    private record Sighting(Map<TopicPartition, Long> ends, ObservationTime at) {}

    /** The topic cannot be followed for now. The message says why. */
    private static final class TroubleException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TroubleException(String message) {
            super(message);
        }
    }

    private TopicTail(
            String topic,
            long last,
            Supplier<Consumer<byte[], byte[]>> consumers,
            Reader reader,
            InstantSource clock,
            MeterRegistry meters) {
        this.topic = topic;
        this.last = last;
        this.consumers = consumers;
        this.reader = reader;
        this.clock = clock;
        this.thread = new SupervisedThread("tail-" + topic, stop, RETRY_POLICY, this::followOnce, this::failed);
        Gauge.builder("puri.tail.age", this, TopicTail::ageInSeconds)
                .description("Since when it is not known that all of the topic was read; NaN before it ever was")
                .tag("topic", topic)
                .baseUnit("seconds")
                .register(meters);
    }

    /**
     * Begins to follow; the topic and the brokers need not be there yet.
     *
     * @param last about how many records from the end are read at first; {@link Long#MAX_VALUE} for all
     */
    static TopicTail start(
            String topic,
            long last,
            Supplier<Consumer<byte[], byte[]>> consumers,
            Reader reader,
            InstantSource clock,
            MeterRegistry meters) {
        TopicTail tail = new TopicTail(topic, last, consumers, reader, clock, meters);
        tail.thread.start();
        return tail;
    }

    @Override
    public boolean hasCaughtUp() {
        return reached != null;
    }

    @Override
    public @Nullable Duration age() {
        Sighting seen = reached;
        return seen == null ? null : seen.at().age(clock);
    }

    private double ageInSeconds() {
        Duration age = age();
        return age == null ? Double.NaN : age.toMillis() / 1000.0;
    }

    @Override
    public @Nullable String trouble() {
        return trouble;
    }

    /** The next attempt goes on where this one stood. */
    private void failed(Throwable cause) {
        if (cause instanceof OffsetOutOfRangeException) {
            next.clear();
            inTrouble("a part was deleted before it was read");
        } else if (cause instanceof TroubleException || cause instanceof KafkaException) {
            inTrouble(String.valueOf(cause.getMessage()));
        } else {
            if (!cause.toString().equals(trouble)) {
                log.error("{} cannot be followed for now", topic, cause);
            }
            trouble = cause.toString();
        }
    }

    private void followOnce() {
        Consumer<byte[], byte[]> consumer = consumers.get();
        try {
            List<TopicPartition> partitions = partitions(consumer);
            consumer.assign(partitions);
            Sighting sighting = sight(consumer, partitions);
            place(consumer, sighting);
            while (!stop.isAsked() && partitions.size() == partitions(consumer).size()) {
                readTo(consumer, sighting);
                reader.tick();
                sighting = sight(consumer, partitions);
                if (isBeyond(sighting)) {
                    next.clear();
                    throw new TroubleException("it was made anew");
                }
            }
        } finally {
            // Closing asks nothing of the brokers here, but would not go through with the flag up.
            boolean interrupted = Thread.interrupted();
            consumer.close(CloseOptions.timeout(CLOSE));
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private List<TopicPartition> partitions(Consumer<byte[], byte[]> consumer) {
        List<TopicPartition> partitions = consumer.partitionsFor(topic, PATIENCE).stream()
                .map(info -> new TopicPartition(topic, info.partition()))
                .toList();
        if (partitions.isEmpty()) {
            next.clear();
            throw new TroubleException("there is no such topic yet; 'puri topics create' makes it");
        }
        return partitions;
    }

    private Sighting sight(Consumer<byte[], byte[]> consumer, Collection<TopicPartition> partitions) {
        ObservationTime now = ObservationTime.now(clock);
        return new Sighting(Map.copyOf(consumer.endOffsets(partitions, PATIENCE)), now);
    }

    /** Goes on where the tail stood, unless the topic has no such place. */
    private void place(Consumer<byte[], byte[]> consumer, Sighting sighting) {
        Map<TopicPartition, Long> begins =
                consumer.beginningOffsets(sighting.ends().keySet(), PATIENCE);
        boolean goesOn = next.keySet().equals(sighting.ends().keySet())
                && !isBeyond(sighting)
                && next.entrySet().stream()
                        .allMatch(place -> place.getValue() >= begins.getOrDefault(place.getKey(), 0L));
        if (!goesOn) {
            reached = null;
            reader.anew();
            next.clear();
            next.putAll(first(consumer, begins, sighting.ends()));
        }
        next.forEach(consumer::seek);
    }

    private boolean hasReached(Sighting sighting) {
        return sighting.ends().entrySet().stream()
                .allMatch(end -> next.getOrDefault(end.getKey(), 0L) >= end.getValue());
    }

    private boolean isBeyond(Sighting sighting) {
        return next.entrySet().stream()
                .anyMatch(place -> place.getValue() > sighting.ends().getOrDefault(place.getKey(), 0L));
    }

    /**
     * Where the last records begin, by time, since the partitions differ. Twice as many offsets are
     * counted: of a transaction with one record in a partition, every other offset is its marker.
     */
    private Map<TopicPartition, Long> first(
            Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> begins, Map<TopicPartition, Long> ends) {
        Map<TopicPartition, Long> found = begins;
        long wanted = last > Long.MAX_VALUE / 2 ? Long.MAX_VALUE : 2 * last;
        if (between(begins, ends) <= wanted) {
            return found;
        }
        long early = 0;
        long late = clock.millis();
        for (int i = 0; i < HALVINGS && late - early > 1; i++) {
            long time = early + (late - early) / 2;
            Map<TopicPartition, Long> since = since(consumer, time, ends);
            if (between(since, ends) >= wanted) {
                found = since;
                early = time;
            } else {
                late = time;
            }
        }
        return found;
    }

    private static Map<TopicPartition, Long> since(
            Consumer<byte[], byte[]> consumer, long time, Map<TopicPartition, Long> ends) {
        Map<TopicPartition, Long> asked = new HashMap<>();
        ends.keySet().forEach(partition -> asked.put(partition, time));
        Map<TopicPartition, OffsetAndTimestamp> answer = consumer.offsetsForTimes(asked, PATIENCE);
        Map<TopicPartition, Long> since = new HashMap<>();
        ends.forEach((partition, end) -> {
            OffsetAndTimestamp offset = answer.get(partition);
            since.put(partition, offset == null ? end : offset.offset());
        });
        return since;
    }

    private static long between(Map<TopicPartition, Long> from, Map<TopicPartition, Long> to) {
        return to.entrySet().stream()
                .mapToLong(end -> Math.max(0, end.getValue() - from.getOrDefault(end.getKey(), 0L)))
                .sum();
    }

    /** Reads to the ends that were sighted, and on until it is time to look again. */
    private void readTo(Consumer<byte[], byte[]> consumer, Sighting sighting) {
        boolean there = false;
        long lastProgress = System.nanoTime();
        while (!stop.isAsked()) {
            Map<TopicPartition, Long> before = Map.copyOf(next);
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                reader.take(record);
                next.put(new TopicPartition(record.topic(), record.partition()), record.offset() + 1);
            }
            // Transaction markers take offsets too.
            next.replaceAll((partition, offset) -> consumer.position(partition, PATIENCE));
            if (!there && hasReached(sighting)) {
                there = true;
                reached = sighting;
                trouble = null;
            }
            long now = System.nanoTime();
            lastProgress = next.equals(before) ? lastProgress : now;
            if (there && now - sighting.at().nanos() > LOOK.toNanos()) {
                return;
            }
            if (!there && now - lastProgress > PATIENCE.toNanos()) {
                throw new TroubleException("its end is not reached");
            }
        }
    }

    private void inTrouble(String what) {
        if (!what.equals(trouble) && !stop.isAsked()) {
            log.warn("{}: {}", topic, what);
        }
        trouble = what;
    }

    @Override
    public void close() {
        stop.ask();
        thread.interrupt();
        if (!thread.join(STOP)) {
            log.warn("{} was not left within {} s", topic, STOP.toSeconds());
        }
    }
}
