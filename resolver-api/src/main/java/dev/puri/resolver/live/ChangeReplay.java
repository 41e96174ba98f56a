package dev.puri.resolver.live;

import dev.puri.projection.AvroValueDecoder;
import dev.puri.projection.AvroValueDecoder.UnreadableException;
import dev.puri.projection.RecordKey;
import dev.puri.projection.wait.EventOutcome;
import dev.puri.resolver.feed.ChangeRecords;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
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
 * <p>The topic is compacted, so only the last change of a row may be left. The topology also writes a record for each
 * event that was refused or changed nothing; the record repeats the unchanged row. Compaction may have removed the
 * record of the change and left such a repeat. So a repeat is reported like a change, unless the same read has already
 * reported the row: it is better to report a row twice than never.
 */
final class ChangeReplay implements ChangeLog {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration RETRY_DELAY = Duration.ofMillis(200);
    private static final Duration CLOSE_TIMEOUT = Duration.ofMillis(200);

    /** Maximum number of reported rows that one read remembers; other rows may be reported twice. */
    private static final int MAX_REMEMBERED = 20_000;

    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final AvroValueDecoder<IdentityRow> values;
    private final LongSupplier nanoTime;

    /**
     * @param consumers create consumers that read committed records only
     * @param nanoTime the clock, like {@link System#nanoTime}
     */
    ChangeReplay(
            Supplier<Consumer<byte[], byte[]>> consumers, AvroValueDecoder<IdentityRow> values, LongSupplier nanoTime) {
        this.consumers = consumers;
        this.values = values;
        this.nanoTime = nanoTime;
    }

    @Override
    public void read(long[] from, long[] to, Receiver receiver) throws GoneException {
        Consumer<byte[], byte[]> consumer = consumers.get();
        try {
            List<TopicPartition> partitions = new ArrayList<>();
            for (int i = 0; i < from.length; i++) {
                if (from[i] < to[i]) {
                    partitions.add(new TopicPartition(Topics.IDENTITIES, i));
                }
            }
            consumer.assign(partitions);
            requireNotDeleted(consumer, partitions, from);
            partitions.forEach(partition -> consumer.seek(partition, from[partition.partition()]));
            new OffsetRangeReader(consumer, partitions, to, receiver).run();
        } finally {
            boolean interrupted = Thread.interrupted();
            consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT));
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void requireNotDeleted(
            Consumer<byte[], byte[]> consumer, List<TopicPartition> partitions, long[] from) throws GoneException {
        Map<TopicPartition, Long> beginningOffsets = consumer.beginningOffsets(partitions, TIMEOUT);
        for (TopicPartition partition : partitions) {
            if (from[partition.partition()] < beginningOffsets.getOrDefault(partition, 0L)) {
                throw new GoneException(partition + " begins after offset " + from[partition.partition()]);
            }
        }
    }

    /** Reads each partition from its position to its end offset, and perhaps some later records. */
    private final class OffsetRangeReader {
        private final Consumer<byte[], byte[]> consumer;
        private final List<TopicPartition> partitions;
        private final long[] to;
        private final Receiver receiver;

        /** By pURI of a reported row, the position of the event that last changed the row; empty for an erased row. */
        private final Map<Puri, Optional<Position>> reportedPositions = new HashMap<>();

        OffsetRangeReader(
                Consumer<byte[], byte[]> consumer, List<TopicPartition> partitions, long[] to, Receiver receiver) {
            this.consumer = consumer;
            this.partitions = new ArrayList<>(partitions);
            this.to = to;
            this.receiver = receiver;
        }

        void run() {
            long lastProgressNanos = nanoTime.getAsLong();
            while (!partitions.isEmpty()) {
                Map<TopicPartition, Long> before = consumerPositions();
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    if (!receiver.receive(record.partition(), record.offset() + 1, change(record))) {
                        return;
                    }
                    lastProgressNanos = nanoTime.getAsLong();
                }
                Map<TopicPartition, Long> after = consumerPositions();
                // The positions of the consumer are compared, and not the offsets of records, because the last offsets
                // may be those of transaction markers.
                partitions.removeIf(partition -> after.getOrDefault(partition, 0L) >= to[partition.partition()]);
                if (!after.equals(before)) {
                    lastProgressNanos = nanoTime.getAsLong();
                } else if (nanoTime.getAsLong() - lastProgressNanos > TIMEOUT.toNanos()) {
                    throw new TimeoutException("no broker returns records of " + Topics.IDENTITIES);
                }
            }
        }

        private Map<TopicPartition, Long> consumerPositions() {
            Map<TopicPartition, Long> positions = new HashMap<>();
            partitions.forEach(partition -> positions.put(partition, consumer.position(partition, TIMEOUT)));
            return positions;
        }

        private @Nullable Change change(ConsumerRecord<byte[], byte[]> record) {
            try {
                Puri puri = RecordKey.puri(record.key(), record.headers(), record.partition(), to.length);
                Row row = record.value() == null ? null : row(record.value());
                Optional<Position> cause = Optional.ofNullable(row).map(Row::position);
                if (Topics.isMarker(puri) || repeatsReportedRow(record, puri, cause)) {
                    return null;
                }
                if (reportedPositions.size() < MAX_REMEMBERED || reportedPositions.containsKey(puri)) {
                    reportedPositions.put(puri, cause);
                }
                ChangeContent content = new ChangeContent.Decoded(puri, withPosition(record, row));
                return new Change(record.partition(), record.offset(), content);
            } catch (UnreadableException | IllegalArgumentException e) {
                // The table also skips this record, and has logged it.
                return null;
            }
        }

        /**
         * Returns the row with the position of the event that changed the row. A record of a change has this position
         * in a header. A record that repeats the row has this position only in the row.
         */
        private static @Nullable Row withPosition(ConsumerRecord<byte[], byte[]> record, @Nullable Row row) {
            if (row == null || !ChangeRecords.isChange(record.headers())) {
                return row;
            }
            EventOutcome outcome = outcome(record);
            return outcome == null ? row : EventOutcome.withPosition(outcome.position(), row);
        }

        private static @Nullable EventOutcome outcome(ConsumerRecord<byte[], byte[]> record) {
            try {
                return EventOutcome.of(record.headers());
            } catch (IllegalArgumentException e) {
                // The table has counted this record as unreadable.
                return null;
            }
        }

        private boolean repeatsReportedRow(ConsumerRecord<byte[], byte[]> record, Puri puri, Optional<Position> cause) {
            return !ChangeRecords.isChange(record.headers()) && cause.equals(reportedPositions.get(puri));
        }

        private Row row(byte[] value) throws UnreadableException {
            long startNanos = nanoTime.getAsLong();
            while (true) {
                try {
                    return RowAvro.fromAvro(values.read(value));
                } catch (SchemaRegistryUnavailableException e) {
                    if (nanoTime.getAsLong() - startNanos > TIMEOUT.toNanos()) {
                        throw e;
                    }
                    awaitRetry();
                }
            }
        }

        private void awaitRetry() {
            try {
                Thread.sleep(RETRY_DELAY.toMillis());
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            }
        }
    }
}
