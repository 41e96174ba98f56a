package dev.puri.resolver.feed;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RegisteredForm;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.WireFormat;
import dev.puri.tail.RecordKey;
import dev.puri.tail.SchemaRegistryWait;
import dev.puri.tail.wait.EventOutcome;
import dev.puri.tail.wait.OutcomeCache;
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
 * Converts records of {@code puri.identities.v1} to batches for the table, both at restore and later. No content of the
 * topic can stop it: a record that cannot be decoded is counted, and the row before it stays. While the schema registry
 * is out of reach it waits, because skipping a record would lose a change.
 */
final class RowFeed implements Processor<byte[], byte[], Void, Void> {
    private static final Schema REGISTERED = RegisteredForm.of(IdentityRow.getClassSchema());
    private static final Logger log = LoggerFactory.getLogger(RowFeed.class);

    private final RowWriter writer;
    private final SchemaRegistry registry;
    private final OutcomeCache outcomes;
    private final SchemaRegistryWait schemaRegistryWait;
    private final Counter undecodable;
    private final RecordReader<IdentityRow> reader = RecordReader.of(IdentityRow.class);
    private @Nullable ProcessorContext<Void, Void> context;

    /** The schema id of rows that this build writes, once a record had it. */
    private int ownId;

    private boolean ownIsKnown;

    /**
     * @param outcomes receives outcomes that no row shows
     */
    RowFeed(
            RowWriter writer,
            SchemaRegistry registry,
            OutcomeCache outcomes,
            SchemaRegistryWait schemaRegistryWait,
            Counter undecodable) {
        this.writer = writer;
        this.registry = registry;
        this.outcomes = outcomes;
        this.schemaRegistryWait = schemaRegistryWait;
        this.undecodable = undecodable;
    }

    @Override
    public void init(ProcessorContext<Void, Void> context) {
        this.context = context;
    }

    /** Kafka's global thread reports exceptions only: an error would end it without its cause. */
    @Override
    public void process(Record<byte[], byte[]> record) {
        try {
            take(record);
        } catch (Error e) {
            throw new IllegalStateException("the record at " + place() + " cannot be processed: " + e, e);
        }
    }

    private void take(Record<byte[], byte[]> record) {
        byte[] key = record.key();
        byte[] value = record.value();
        RowWriter.Batch batch = writer.batch();
        // The row is kept under the position in the first header, not under that in the value.
        byte[] token = firstOf(record.headers());
        if (key != null
                && value != null
                && token != null
                && ChangeRecords.isChange(record.headers())
                && isOwn(value)
                && batch.rows.take(key, value, token)) {
            batch.addRecord(key, value, token, where(), true);
            return;
        }
        try {
            Puri puri = RecordKey.puri(key);
            EventOutcome answer = outcomes.read(puri, record.headers(), this::place);
            Row row = value == null ? null : row(value);
            // Not the batch from above: a wait for the schema registry hands that over.
            batch = writer.batch();
            if (row == null) {
                batch.rows.remove(puri);
                if (answer != null && answer.outcome().kind() == Outcome.Kind.APPLIED) {
                    outcomes.erased(puri, answer.position(), Instant.ofEpochMilli(record.timestamp()));
                } else if (answer != null) {
                    outcomes.noRow(puri, answer.position());
                }
            } else {
                batch.rows.put(puri, answer == null ? row : answer.keep(row));
            }
            batch.addRecord(
                    puri.toBytes(),
                    value,
                    answer == null ? null : answer.position().toString().getBytes(StandardCharsets.US_ASCII),
                    where(),
                    answer == null || answer.outcome().kind() == Outcome.Kind.APPLIED);
            if (answer != null && answer.outcome().reason() != null) {
                outcomes.refused(puri, answer.position(), answer.outcome().reason());
            }
        } catch (SerializationException | AvroRuntimeException | IllegalArgumentException e) {
            undecodable.increment();
            log.warn("The record at {} is no identity and is skipped: {}", place(), e.getMessage());
        }
    }

    /**
     * The value of the first header. The registry writes the position there, and no other value of its parses as one.
     */
    private static byte @Nullable [] firstOf(Headers headers) {
        Iterator<Header> all = headers.iterator();
        return all.hasNext() ? all.next().value() : null;
    }

    /**
     * Whether rows of a schema have the byte layout that this build writes. Earlier builds registered the class's
     * schema.
     */
    private static boolean isRow(Schema writer) {
        return writer.equals(REGISTERED) || writer.equals(IdentityRow.getClassSchema());
    }

    private boolean isOwn(byte[] value) {
        return ownIsKnown && WireFormat.isOf(ownId, value);
    }

    private Row row(byte[] value) {
        return schemaRegistryWait.read(() -> decode(value), e -> {
            writer.handOver();
            log.warn("The table waits at {} for the schema registry: {}", place(), e.getMessage());
        });
    }

    private Row decode(byte[] value) {
        int id = WireFormat.schemaId(value);
        Schema writerSchema = registry.byId(id);
        if (isRow(writerSchema)) {
            ownId = id;
            ownIsKnown = true;
        }
        return RowAvro.fromAvro(reader.decode(value, writerSchema));
    }

    private @Nullable RecordMetadata where() {
        return context == null ? null : context.recordMetadata().orElse(null);
    }

    private String place() {
        return context == null
                ? "an unknown place"
                : context.recordMetadata().map(RowFeed::text).orElse("an unknown place");
    }

    private static String text(RecordMetadata place) {
        return place.topic() + "-" + place.partition() + "@" + place.offset();
    }
}
