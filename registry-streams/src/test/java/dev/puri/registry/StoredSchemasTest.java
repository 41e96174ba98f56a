package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.avro.Document;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.RecordWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StoredSchemasTest {
    private static final byte @Nullable [] TOMBSTONE = null;

    private final InMemorySchemaRegistry registry = new InMemorySchemaRegistry();
    private final int rowId = registry.register("rows", IdentityRow.getClassSchema());
    private final FakeConsumer consumer = new FakeConsumer(Topics.IDENTITIES);

    private static byte[] rowWithId(int schemaId) {
        Row row = new Row(
                UUID.fromString("0190a5d2-0000-7000-8000-000000000001"),
                new Owner("catalog"),
                new Shard("br-1"),
                null,
                Row.Status.ACTIVE,
                1,
                Instant.EPOCH,
                Instant.EPOCH,
                null,
                new Position(Topics.EVENTS, 0, 1));
        return RecordWriter.of(IdentityRow.class).encode(schemaId, RowAvro.toAvro(row));
    }

    private List<String> check() {
        return StoredSchemas.check(consumer, registry, () -> false);
    }

    @Test
    void acceptsRowsOfARegisteredSchemaAndIgnoresValuesWithoutASchemaId() {
        consumer.write(0, 3, rowWithId(rowId));
        consumer.write(3, 4, TOMBSTONE);
        consumer.write(4, 5, new byte[] {7});

        assertThat(check()).isEmpty();
    }

    @Test
    void acceptsATopicWithoutRecordsAndMissingTopics() {
        assertThat(check()).isEmpty();
    }

    @Test
    void reportsAnIdThatTheRegistryDoesNotHave() {
        consumer.write(0, 2, rowWithId(99));

        assertThat(check())
                .containsExactly("puri.identities.v1 has records with the schema id 99 (offset 0 of partition 0), which"
                        + " the schema registry does not have: restore the schema registry from its backup, see"
                        + " docs/disasters.md");
    }

    @Test
    void reportsAnIdThatTheRegistryHasGivenToAnotherType() {
        int documentId = registry.register("documents", Document.getClassSchema());
        consumer.write(0, 1, rowWithId(documentId));

        assertThat(check()).singleElement().asString().contains("is dev.puri.schemas.avro.Document, not ");
    }

    @Test
    void reportsAnIdOfAVersionThatDoesNotFitTheRecord() {
        Schema row = IdentityRow.getClassSchema();
        Schema other = SchemaBuilder.record(row.getName())
                .namespace(row.getNamespace())
                .fields()
                .endRecord();
        consumer.write(0, 1, rowWithId(registry.register("others", other)));

        assertThat(check()).singleElement().asString().contains("is another version of " + row.getFullName());
    }

    @Test
    void readsBothEndsOfAPartitionAndNothingBetween() {
        consumer.write(0, 1, rowWithId(97));
        consumer.write(1, 50, rowWithId(rowId));
        consumer.write(50, 51, rowWithId(98));
        consumer.write(51, 99, rowWithId(rowId));
        consumer.write(99, 100, rowWithId(99));

        assertThat(check())
                .hasSize(2)
                .anyMatch(mistake -> mistake.contains("schema id 97 (offset 0 "))
                .anyMatch(mistake -> mistake.contains("schema id 99 (offset 99 "));
    }

    @Test
    void readsFurtherBackIfTheLastRecordsHaveNoSchemaId() {
        consumer.write(0, 50, rowWithId(rowId));
        consumer.write(50, 51, rowWithId(98));
        consumer.write(51, 100, TOMBSTONE);

        assertThat(check()).singleElement().asString().contains("schema id 98 (offset 50 ");
    }

    @Test
    void reportsADeclarationWhoseSchemaIsMissingUntilItIsReplaced() {
        FakeConsumer declarations = new FakeConsumer(Topics.COLLECTIONS);
        declarations.write(0, 1, new byte[] {0, 0, 0, 0, 99, 1});

        assertThat(StoredSchemas.check(declarations, registry, () -> false))
                .singleElement()
                .asString()
                .startsWith("puri.collections.v1 has records with the schema id 99 (offset 0 of partition 0), which");

        declarations.write(1, 2, TOMBSTONE);
        assertThat(StoredSchemas.check(declarations, registry, () -> false)).isEmpty();
    }

    @Test
    void endsWhenItIsStopped() {
        consumer.write(0, 1, rowWithId(rowId));

        assertThatThrownBy(() -> StoredSchemas.check(consumer, registry, () -> true))
                .isInstanceOf(KafkaException.class)
                .hasMessageContaining("stopped");
    }

    /** Reads one partition, at most ten offsets a poll. */
    private static final class FakeConsumer extends MockConsumer<byte[], byte[]> {
        private final TopicPartition partition;
        private final SortedMap<Long, ConsumerRecord<byte[], byte[]>> log = new TreeMap<>();

        FakeConsumer(String topic) {
            super("earliest");
            partition = new TopicPartition(topic, 0);
            updatePartitions(partition.topic(), List.of(new PartitionInfo(partition.topic(), 0, null, null, null)));
            updateBeginningOffsets(Map.of(partition, 0L));
            updateEndOffsets(Map.of(partition, 0L));
        }

        void write(long from, long to, byte @Nullable [] value) {
            for (long offset = from; offset < to; offset++) {
                log.put(offset, new ConsumerRecord<>(partition.topic(), 0, offset, new byte[] {1}, value));
            }
            updateEndOffsets(Map.of(partition, to));
        }

        @Override
        public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
            if (assignment().contains(partition)) {
                long position = position(partition);
                log.subMap(position, position + 10).values().forEach(this::addRecord);
            }
            return super.poll(timeout);
        }
    }
}
