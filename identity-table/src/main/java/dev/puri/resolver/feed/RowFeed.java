package dev.puri.resolver.feed;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RegisteredForm;
import dev.puri.schemas.serde.RegistryUnavailableException;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.WireFormat;
import dev.puri.tail.RecordKey;
import dev.puri.tail.wait.Answer;
import dev.puri.tail.wait.Answers;
import io.micrometer.core.instrument.Counter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Iterator;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 2_000;

    private final RowWriter writer;
    private final SchemaRegistry registry;
    private final Answers answers;
    private final Stop stop;
    private final Counter undecodable;
    private final RecordReader<IdentityRow> reader = RecordReader.of(IdentityRow.class);
    private @Nullable ProcessorContext<Void, Void> context;

    /** The id of the schema that this program was built with, once it was seen. */
    private int ownId;

    private boolean ownIsKnown;

    /** Ends the waiting of a feed from another thread, and tells what it waits for. */
    static final class Stop {
        private final CountDownLatch asked = new CountDownLatch(1);
        private volatile @Nullable String waitingFor;

        void ask() {
            asked.countDown();
        }

        /** What the feed waits for; null while it does not wait. */
        @Nullable
        String waitingFor() {
            return waitingFor;
        }
    }

    /** The feed was asked to stop while it waited. */
    private static final class Stopped extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Stopped() {
            super("stopped while waiting for the schema registry");
        }
    }

    /**
     * @param answers told of what no row can tell
     */
    RowFeed(RowWriter writer, SchemaRegistry registry, Answers answers, Stop stop, Counter undecodable) {
        this.writer = writer;
        this.registry = registry;
        this.answers = answers;
        this.stop = stop;
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
            Answer answer = answers.read(puri, record.headers(), this::place);
            Row row = value == null ? null : row(value);
            // Not the one from above: what was in it is handed over when the registry has to be waited for.
            batch = writer.batch();
            if (row == null) {
                batch.rows.remove(puri);
                if (answer != null && answer.outcome().kind() == Outcome.Kind.APPLIED) {
                    answers.erased(puri, answer.position(), Instant.ofEpochMilli(record.timestamp()));
                } else if (answer != null) {
                    answers.noRow(puri, answer.position());
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
                answers.refused(puri, answer.position(), answer.outcome().reason());
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
        try {
            return read(value);
        } finally {
            stop.waitingFor = null;
        }
    }

    private Row read(byte[] value) {
        long pause = FIRST_PAUSE_MILLIS;
        while (true) {
            try {
                int id = WireFormat.schemaId(value);
                Schema writer = registry.byId(id);
                if (isRow(writer)) {
                    ownId = id;
                    ownIsKnown = true;
                }
                return RowAvro.fromAvro(reader.decode(value, writer));
            } catch (RegistryUnavailableException e) {
                if (stop.waitingFor == null) {
                    writer.handOver();
                    log.warn("The table waits at {} for the schema registry: {}", place(), e.getMessage());
                }
                stop.waitingFor = String.valueOf(e.getMessage());
                pause(pause);
                pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
            }
        }
    }

    private void pause(long millis) {
        try {
            if (stop.asked.await(millis, TimeUnit.MILLISECONDS)) {
                throw new Stopped();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Stopped();
        }
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
