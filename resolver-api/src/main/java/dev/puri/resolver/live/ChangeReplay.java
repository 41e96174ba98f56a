package dev.puri.resolver.live;

import dev.puri.resolver.feed.ChangeRecords;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RegistryUnavailableException;
import dev.puri.tail.AvroValues;
import dev.puri.tail.AvroValues.UnreadableException;
import dev.puri.tail.wait.EventOutcome;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Reads changes from {@code puri.identities.v1}, each time with a new consumer. Thread-safe.
 *
 * <p>The topic is compacted, so of a row that changed often only the last change may be left. Compaction may also have
 * removed the record of the change, and left one with the same row that answers a later refused or repeated event. So
 * such a record is reported too, unless the same read has reported the row before: it is better to report a row twice
 * than never.
 */
final class ChangeReplay implements ChangeLog {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration PAUSE = Duration.ofMillis(200);
    private static final Duration CLOSE = Duration.ofMillis(200);

    /** How many reported rows are remembered; other rows may be reported twice. */
    private static final int REMEMBERED = 20_000;

    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final AvroValues<IdentityRow> values;

    /**
     * @param consumers of committed records
     */
    ChangeReplay(Supplier<Consumer<byte[], byte[]>> consumers, AvroValues<IdentityRow> values) {
        this.consumers = consumers;
        this.values = values;
    }

    @Override
    public void read(long[] from, long[] to, Taker taker) throws GoneException {
        Consumer<byte[], byte[]> consumer = consumers.get();
        try {
            List<TopicPartition> partitions = new ArrayList<>();
            for (int i = 0; i < from.length; i++) {
                if (from[i] < to[i]) {
                    partitions.add(new TopicPartition(Topics.IDENTITIES, i));
                }
            }
            consumer.assign(partitions);
            requireThere(consumer, partitions, from);
            partitions.forEach(partition -> consumer.seek(partition, from[partition.partition()]));
            new Reading(consumer, partitions, to, taker).run();
        } finally {
            boolean interrupted = Thread.interrupted();
            consumer.close(CloseOptions.timeout(CLOSE));
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void requireThere(Consumer<byte[], byte[]> consumer, List<TopicPartition> partitions, long[] from)
            throws GoneException {
        Map<TopicPartition, Long> begins = consumer.beginningOffsets(partitions, TIMEOUT);
        for (TopicPartition partition : partitions) {
            if (from[partition.partition()] < begins.getOrDefault(partition, 0L)) {
                throw new GoneException(partition + " begins after " + from[partition.partition()]);
            }
        }
    }

    /** One read of the topic. */
    private final class Reading {
        private final Consumer<byte[], byte[]> consumer;
        private final List<TopicPartition> partitions;
        private final long[] to;
        private final Taker taker;

        /** By reported row, the event that last changed it; empty for an erased row. */
        private final Map<Puri, Optional<Position>> reported = new HashMap<>();

        Reading(Consumer<byte[], byte[]> consumer, List<TopicPartition> partitions, long[] to, Taker taker) {
            this.consumer = consumer;
            this.partitions = new ArrayList<>(partitions);
            this.to = to;
            this.taker = taker;
        }

        void run() {
            long lastProgress = System.nanoTime();
            while (!partitions.isEmpty()) {
                Map<TopicPartition, Long> before = positions();
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    if (!taker.take(record.partition(), record.offset() + 1, change(record))) {
                        return;
                    }
                    lastProgress = System.nanoTime();
                }
                Map<TopicPartition, Long> after = positions();
                // Transaction markers take offsets too.
                partitions.removeIf(partition -> after.getOrDefault(partition, 0L) >= to[partition.partition()]);
                if (!after.equals(before)) {
                    lastProgress = System.nanoTime();
                } else if (System.nanoTime() - lastProgress > TIMEOUT.toNanos()) {
                    throw new TimeoutException("no broker gives records of " + Topics.IDENTITIES);
                }
            }
        }

        private Map<TopicPartition, Long> positions() {
            Map<TopicPartition, Long> positions = new HashMap<>();
            partitions.forEach(partition -> positions.put(partition, consumer.position(partition, TIMEOUT)));
            return positions;
        }

        private @Nullable Change change(ConsumerRecord<byte[], byte[]> record) {
            try {
                Puri puri = Puri.parse(
                        new String(Objects.requireNonNullElse(record.key(), new byte[0]), StandardCharsets.UTF_8));
                Row row = record.value() == null ? null : row(record.value());
                Optional<Position> cause = Optional.ofNullable(row).map(Row::position);
                if (Topics.isMarker(puri) || isRepeated(record, puri, cause)) {
                    return null;
                }
                if (reported.size() < REMEMBERED || reported.containsKey(puri)) {
                    reported.put(puri, cause);
                }
                return new Change(record.partition(), record.offset(), new Content.Known(puri, changed(record, row)));
            } catch (UnreadableException | IllegalArgumentException e) {
                // The table skips it too, and has logged it.
                return null;
            }
        }

        /**
         * The row under the position of the event that changed it. If the record answers another event, only the row
         * itself has that position.
         */
        private static @Nullable Row changed(ConsumerRecord<byte[], byte[]> record, @Nullable Row row) {
            if (row == null || !ChangeRecords.isChange(record.headers())) {
                return row;
            }
            EventOutcome answer = answer(record);
            return answer == null ? row : EventOutcome.under(answer.position(), row);
        }

        private static @Nullable EventOutcome answer(ConsumerRecord<byte[], byte[]> record) {
            try {
                return EventOutcome.of(record.headers());
            } catch (IllegalArgumentException e) {
                // The table has counted it.
                return null;
            }
        }

        private boolean isRepeated(ConsumerRecord<byte[], byte[]> record, Puri puri, Optional<Position> cause) {
            return !ChangeRecords.isChange(record.headers()) && cause.equals(reported.get(puri));
        }

        private Row row(byte[] value) throws UnreadableException {
            long begun = System.nanoTime();
            while (true) {
                try {
                    return RowAvro.fromAvro(values.read(value));
                } catch (RegistryUnavailableException e) {
                    if (System.nanoTime() - begun > TIMEOUT.toNanos()) {
                        throw e;
                    }
                    pause();
                }
            }
        }

        private void pause() {
            try {
                Thread.sleep(PAUSE.toMillis());
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            }
        }
    }
}
