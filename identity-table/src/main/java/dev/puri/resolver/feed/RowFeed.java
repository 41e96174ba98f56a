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
 * Records of {@code puri.identities.v1} into batches for the table, at restore as in life. Nothing that
 * stands in the topic can stop it: what does not decode is counted and leaves the row before it in
 * place. A schema registry out of reach is waited for, because the record after would otherwise be read
 * without the one before.
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

    /** The id of the schema that this program was built with, once it was seen. */
    private int ownId;

    private boolean ownIsKnown;

    /**
     * @param outcomes told of what no row can tell
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

    /** Kafka's global thread tells of exceptions alone: an error would end it, and nobody would know which. */
    @Override
    public void process(Record<byte[], byte[]> record) {
        try {
            take(record);
        } catch (Error e) {
            throw new IllegalStateException("the record at " + place() + " cannot be taken: " + e, e);
        }
    }

    private void take(Record<byte[], byte[]> record) {
        byte[] key = record.key();
        byte[] value = record.value();
        RowWriter.Batch batch = writer.batch();
        // The position that the row is kept under is the first header's, never the value's.
        byte[] token = firstOf(record.headers());
        if (key != null
                && value != null
                && token != null
                && ChangeRecords.isChange(record.headers())
                && isOwn(value)
                && batch.rows.take(key, value, token)) {
            batch.heardOf(key, value, token, where(), true);
            return;
        }
        try {
            Puri puri = RecordKey.puri(key);
            EventOutcome answer = outcomes.read(puri, record.headers(), this::place);
            Row row = value == null ? null : row(value);
            // Not the one from above: what was in it is handed over when the registry has to be waited for.
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
            batch.heardOf(
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
            log.warn("The record at {} is no identity and is kept out: {}", place(), e.getMessage());
        }
    }

    /** The first header's value. The registry writes the position first, and nothing else of its reads as one. */
    private static byte @Nullable [] firstOf(Headers headers) {
        Iterator<Header> all = headers.iterator();
        return all.hasNext() ? all.next().value() : null;
    }

    /** Whether a row's bytes are laid out as this build writes them; builds before registered the class's schema. */
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
