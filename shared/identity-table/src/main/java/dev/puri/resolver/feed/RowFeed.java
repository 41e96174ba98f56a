package dev.puri.resolver.feed;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.RecordKey;
import dev.puri.projection.SchemaRegistryWait;
import dev.puri.projection.wait.EventOutcome;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RegisteredForm;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.WireFormat;
import io.micrometer.core.instrument.Counter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Iterator;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The processor of the global store: converts the records of {@code puri.identities.v1} to batches for the table, both
 * during the restore and afterwards. No content of the topic can stop it: it counts and skips a record that cannot be
 * decoded or is misplaced ({@link RecordKey#puri}), so the table keeps the previous row. While the schema registry is
 * unreachable it waits, because skipping a record would lose a change.
 */
final class RowFeed implements Processor<byte[], byte[], Void, Void> {
    private static final Schema REGISTERED_SCHEMA = RegisteredForm.of(IdentityRow.getClassSchema());
    private static final Logger log = LoggerFactory.getLogger(RowFeed.class);

    private final RowWriter writer;
    private final DigestCheck digests;
    private final SchemaRegistry registry;
    private final OutcomeCache outcomes;
    private final SchemaRegistryWait schemaRegistryWait;
    private final Counter undecodable;
    private final int partitions;
    private final RecordReader<IdentityRow> reader = RecordReader.of(IdentityRow.class);
    private @Nullable ProcessorContext<Void, Void> context;

    /** The id of the schema of this build; valid if {@link #isOwnSchemaIdKnown}. */
    private int ownSchemaId;

    private boolean isOwnSchemaIdKnown;

    /**
     * @param digests decides which digests in the topic are compared
     * @param outcomes receives the outcomes that the rows do not show, such as refusals
     * @param partitions the number of partitions of the topic
     */
    RowFeed(
            RowWriter writer,
            DigestCheck digests,
            SchemaRegistry registry,
            OutcomeCache outcomes,
            SchemaRegistryWait schemaRegistryWait,
            Counter undecodable,
            int partitions) {
        this.writer = writer;
        this.digests = digests;
        this.registry = registry;
        this.outcomes = outcomes;
        this.schemaRegistryWait = schemaRegistryWait;
        this.undecodable = undecodable;
        this.partitions = partitions;
    }

    @Override
    public void init(ProcessorContext<Void, Void> context) {
        this.context = context;
    }

    /** Converts errors to exceptions, because Kafka's global thread does not report the cause of an error. */
    @Override
    public void process(Record<byte[], byte[]> record) {
        try {
            addToBatch(record);
        } catch (Error e) {
            throw new IllegalStateException("the record at " + recordPlace() + " cannot be processed: " + e, e);
        }
    }

    private void addToBatch(Record<byte[], byte[]> record) {
        byte[] key = record.key();
        byte[] value = record.value();
        RowWriter.Batch batch = writer.batch();
        RecordMetadata metadata = metadata();
        int partition = metadata == null ? 0 : metadata.partition();
        // The position in the first header is that of the last event. It replaces the position in the value.
        byte[] token = firstHeaderValue(record.headers());
        if (key != null
                && value != null
                && token != null
                && ChangeRecords.isChange(record.headers())
                && hasOwnSchema(value)
                && batch.rows.tryPut(partition, key, value, token)) {
            batch.addRecord(key, value, token, metadata, true);
            return;
        }
        try {
            Puri puri = RecordKey.puri(key, record.headers(), partition, partitions);
            if (value == null && Topics.isMarker(puri) && compareDigest(record, metadata)) {
                return;
            }
            EventOutcome answer = outcomes.read(puri, record.headers(), this::recordPlace);
            Row row = value == null ? null : row(value);
            // The batch is fetched again, because a wait for the schema registry hands over the first one.
            batch = writer.batch();
            if (row == null) {
                batch.rows.remove(partition, puri);
                if (answer != null && answer.outcome().kind() == Outcome.Kind.APPLIED) {
                    outcomes.addErased(puri, answer.position(), Instant.ofEpochMilli(record.timestamp()));
                } else if (answer != null) {
                    outcomes.addWithoutRow(puri, answer.position());
                }
            } else {
                batch.rows.put(partition, puri, answer == null ? row : answer.rowToStore(row));
            }
            batch.addRecord(
                    puri.toBytes(),
                    value,
                    answer == null ? null : answer.position().toString().getBytes(StandardCharsets.US_ASCII),
                    metadata,
                    answer == null || answer.outcome().kind() == Outcome.Kind.APPLIED);
            if (answer != null && answer.outcome().reason() != null) {
                outcomes.addRefused(puri, answer.position(), answer.outcome().reason());
            }
        } catch (SerializationException | AvroRuntimeException | IllegalArgumentException e) {
            undecodable.increment();
            log.warn("Skipped the record at {}: {}", recordPlace(), e.getMessage());
        }
    }

    /**
     * Lets the writer compare the digest that the registrar published at this offset. Ignores a digest that is not
     * comparable.
     *
     * @return false if the marker has no digest
     * @throws IllegalArgumentException if the digest is malformed
     */
    private boolean compareDigest(Record<byte[], byte[]> record, @Nullable RecordMetadata metadata) {
        PartitionDigest published = PartitionDigest.of(record.headers());
        if (published == null) {
            return false;
        }
        if (metadata != null && digests.isComparable(metadata.partition(), metadata.offset(), record.timestamp())) {
            writer.handOverAndCompare(metadata.partition(), metadata.offset(), published);
        }
        return true;
    }

    /**
     * Returns the value of the first header. The registrar writes the position there. If the first header is a
     * different one, its value does not parse as a position.
     */
    private static byte @Nullable [] firstHeaderValue(Headers headers) {
        Iterator<Header> iterator = headers.iterator();
        return iterator.hasNext() ? iterator.next().value() : null;
    }

    /**
     * Returns whether values written with a schema have the byte layout of this build. Earlier builds registered the
     * schema of the generated class.
     */
    private static boolean hasOwnLayout(Schema writer) {
        return writer.equals(REGISTERED_SCHEMA) || writer.equals(IdentityRow.getClassSchema());
    }

    private boolean hasOwnSchema(byte[] value) {
        return isOwnSchemaIdKnown && WireFormat.hasSchemaId(value, ownSchemaId);
    }

    private Row row(byte[] value) {
        return schemaRegistryWait.read(() -> decode(value), e -> {
            writer.handOver();
            log.warn("The table waits for the schema registry, at record {}: {}", recordPlace(), e.getMessage());
        });
    }

    private Row decode(byte[] value) {
        int id = WireFormat.schemaId(value);
        Schema writerSchema = registry.byId(id);
        if (hasOwnLayout(writerSchema)) {
            ownSchemaId = id;
            isOwnSchemaIdKnown = true;
        }
        return RowAvro.fromAvro(reader.decode(value, writerSchema));
    }

    private @Nullable RecordMetadata metadata() {
        return context == null ? null : context.recordMetadata().orElse(null);
    }

    private String recordPlace() {
        return context == null
                ? "an unknown place"
                : context.recordMetadata().map(RowFeed::text).orElse("an unknown place");
    }

    private static String text(RecordMetadata metadata) {
        return metadata.topic() + "-" + metadata.partition() + "@" + metadata.offset();
    }
}
