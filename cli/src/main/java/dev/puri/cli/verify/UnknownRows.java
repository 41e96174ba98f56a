package dev.puri.cli.verify;

import dev.puri.cli.io.LogReader;
import dev.puri.projection.RecordKey;
import dev.puri.projection.wait.Tokens;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Erasure;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Rows of {@code puri.identities.v1} that the registrar does not have. A foreign producer wrote them, or the registrar
 * has lost their registrations. A repair deletes them, so it must be sure that no registration was lost.
 */
record UnknownRows(RegistryReader registry) {
    /** The event at the position of a row. */
    enum EventAtPosition {
        /** An event of the row's pURI. */
        OF_ROW,

        /** No event, or one of another pURI. */
        OTHER,

        /** The position is before the beginning of the log. */
        EXPIRED
    }

    /**
     * The evidence of the topics about a row.
     *
     * @param position the position of the last event that changed the row; null if the row cannot be decoded
     * @param isOfRegistrar whether the record names an event in a header, as those of the registrar do
     * @param erasures positions of the events that erased the pURI
     */
    record Evidence(
            @Nullable Position position, boolean isOfRegistrar, EventAtPosition event, List<Position> erasures) {
        /** Returns why the registrar may have lost the registration of the row; null if it has not. */
        @Nullable
        String ofLoss() {
            if (position != null && erasures.stream().anyMatch(erasure -> isLater(position, erasure))) {
                return null;
            }
            if (event == EventAtPosition.OF_ROW) {
                return "its event " + position + " is in the log";
            }
            if (isOfRegistrar) {
                return "the registrar wrote the row";
            }
            return event == EventAtPosition.EXPIRED ? "its event " + position + " has expired" : null;
        }
    }

    /** Whether an event is later than another one of the same log. */
    static boolean isLater(Position earlier, Position later) {
        return later.topic().equals(earlier.topic())
                && later.partition() == earlier.partition()
                && later.offset() > earlier.offset();
    }

    /**
     * Reads the partitions of rows that the registrar does not have.
     *
     * @param puris few pURIs
     * @return by pURI, why the registrar may have lost the registration; nothing for a row that may be deleted
     */
    Map<Puri, String> losses(Collection<Puri> puris) {
        Map<Puri, RowInTopic> rows = new LinkedHashMap<>();
        puris.forEach(puri -> rows.put(puri, new RowInTopic()));
        puris.stream()
                .map(puri -> Tokens.partition(puri, registry.partitions()))
                .distinct()
                .forEach(partition -> {
                    read(new TopicPartition(Topics.IDENTITIES, partition), rows, RowInTopic::readRow);
                    read(new TopicPartition(Topics.REJECTIONS, partition), rows, RowInTopic::readRejection);
                });
        Map<Puri, String> losses = new LinkedHashMap<>();
        rows.forEach((puri, row) -> {
            String loss = row.evidence(puri).ofLoss();
            // Without a row there is nothing to delete any more.
            if (row.exists && loss != null) {
                losses.put(puri, loss);
            }
        });
        return losses;
    }

    private void read(
            TopicPartition partition,
            Map<Puri, RowInTopic> rows,
            BiConsumer<RowInTopic, ConsumerRecord<byte[], byte[]>> consumer) {
        registry.requirePartitions(List.of(partition));
        registry.reader().read(partition, 0, record -> {
            RowInTopic row = rowOf(rows, record.key());
            if (row != null) {
                consumer.accept(row, record);
            }
        });
    }

    private static @Nullable RowInTopic rowOf(Map<Puri, RowInTopic> rows, byte @Nullable [] key) {
        try {
            return rows.get(RecordKey.puri(key));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private final class RowInTopic {
        private final List<Position> erasures = new ArrayList<>();
        private boolean exists;
        private boolean isOfRegistrar;
        private @Nullable Position position;

        void readRow(ConsumerRecord<byte[], byte[]> record) {
            exists = record.value() != null;
            isOfRegistrar = LogComparison.position(record.headers()) != null;
            position = exists && registry.decoder().row(record.value()) instanceof Row row ? row.position() : null;
        }

        void readRejection(ConsumerRecord<byte[], byte[]> record) {
            if (record.value() != null) {
                return;
            }
            try {
                erasures.add(Erasure.of(RecordKey.puri(record.key()), record.headers())
                        .position());
            } catch (IllegalArgumentException e) {
                // A foreign producer wrote this tombstone, which proves nothing.
            }
        }

        Evidence evidence(Puri puri) {
            return new Evidence(position, isOfRegistrar, eventAtPosition(puri), erasures);
        }

        private EventAtPosition eventAtPosition(Puri puri) {
            if (position == null) {
                return EventAtPosition.OTHER;
            }
            TopicPartition log = LogReader.partitionOf(position);
            if (!registry.reader().partitions(log.topic()).contains(log)) {
                return EventAtPosition.OTHER;
            }
            if (position.offset() < registry.reader().beginningOffset(log)) {
                return EventAtPosition.EXPIRED;
            }
            boolean[] isOfRow = {false};
            registry.reader()
                    .find(List.of(position), record -> isOfRow[0] = Arrays.equals(record.key(), puri.toBytes()));
            return isOfRow[0] ? EventAtPosition.OF_ROW : EventAtPosition.OTHER;
        }
    }
}
