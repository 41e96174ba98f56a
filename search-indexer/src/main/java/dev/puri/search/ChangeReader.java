package dev.puri.search;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.DocumentAvro;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.RegistryUnavailableException;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.search.index.Entry;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.tail.AvroValues;
import dev.puri.tail.AvroValues.UnreadableException;
import dev.puri.tail.RecordKey;
import dev.puri.tail.wait.EventOutcome;
import dev.puri.tail.wait.OutcomeCache;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decodes records of both topics to changes of the index. A record that cannot be decoded is counted, logged and
 * skipped: the entry before it stays.
 */
final class ChangeReader {
    private static final Logger log = LoggerFactory.getLogger(ChangeReader.class);

    /** How far the clocks of machines may differ. */
    private static final Duration CLOCK_SKEW = Duration.ofMinutes(1);

    /** Older documents are treated like one of this age. */
    private static final Duration LONG_AGO = Duration.ofHours(1);

    private final AvroValues<IdentityRow> rows;
    private final AvroValues<dev.puri.schemas.avro.Document> documents;
    private final OutcomeCache outcomes;
    private final Declared declared;
    private final Map<EntryKind, Counter> undecodable = new EnumMap<>(EntryKind.class);

    /** How the attributes of a document are searched. */
    @FunctionalInterface
    interface Declared {
        /**
         * How the attributes of a document are searched.
         *
         * @param publishedBy an upper bound for the time of its record, in nanoseconds of {@link System#nanoTime}
         * @throws DeclaredAttributes.UnknownException when that is not known yet
         */
        SearchedAttributes of(Puri puri, long publishedBy);
    }

    /**
     * The change of a record.
     *
     * @param answer the event that the record answers; null for a document, or without valid headers
     * @param at when the record was written
     */
    record Read(IndexChange change, @Nullable EventOutcome answer, Instant at) {}

    /**
     * @param registry resolves schema ids; not closed
     * @param outcomes reads which event a record answers
     */
    ChangeReader(SchemaRegistry registry, OutcomeCache outcomes, Declared declared, MeterRegistry meters) {
        this.outcomes = outcomes;
        this.declared = declared;
        rows = new AvroValues<>(IdentityRow.class, registry);
        documents = new AvroValues<>(dev.puri.schemas.avro.Document.class, registry);
        for (EntryKind kind : EntryKind.values()) {
            undecodable.put(
                    kind,
                    Counter.builder("puri.search.undecodable")
                            .description("Records that are no change of the index and are kept out")
                            .tag("kind", IndexMeters.name(kind))
                            .register(meters));
        }
    }

    /**
     * Reads a record.
     *
     * @param polledAt when it was polled, in nanoseconds of {@link System#nanoTime}
     * @return null when it can never be decoded
     * @throws RegistryUnavailableException when it cannot be decoded now
     * @throws DeclaredAttributes.UnknownException when it is not known yet how its attributes are searched
     */
    @Nullable
    Read read(ConsumerRecord<byte[], byte[]> record, long polledAt) {
        EntryKind kind = record.topic().equals(EntryKind.IDENTITY.topic()) ? EntryKind.IDENTITY : EntryKind.DOCUMENT;
        try {
            Puri puri = RecordKey.puri(record.key());
            EventOutcome answer =
                    kind == EntryKind.IDENTITY ? outcomes.read(puri, record.headers(), () -> place(record)) : null;
            byte[] value = record.value();
            Entry entry = value == null ? null : kind == EntryKind.IDENTITY ? row(value, answer) : document(value);
            SearchedAttributes attributes = entry instanceof Entry.OfDocument
                    ? declared.of(puri, publishedBy(record, polledAt))
                    : SearchedAttributes.DEFAULT;
            return new Read(
                    new IndexChange(kind, record.partition(), record.offset(), puri, entry, attributes),
                    answer,
                    Instant.ofEpochMilli(record.timestamp()));
        } catch (UnreadableException | IllegalArgumentException e) {
            Objects.requireNonNull(undecodable.get(kind)).increment();
            log.warn("The record at {} is skipped: {}", place(record), e.getMessage());
            return null;
        }
    }

    /** An upper bound for the time of a record, so that a rebuild need not wait for declarations of old documents. */
    private static long publishedBy(ConsumerRecord<byte[], byte[]> record, long polledAt) {
        long agoMillis = System.currentTimeMillis() - record.timestamp() - CLOCK_SKEW.toMillis();
        return polledAt
                - Duration.ofMillis(Math.clamp(agoMillis, 0, LONG_AGO.toMillis()))
                        .toNanos();
    }

    private static String place(ConsumerRecord<byte[], byte[]> record) {
        return record.topic() + "-" + record.partition() + "@" + record.offset();
    }

    private Entry row(byte[] value, @Nullable EventOutcome answer) throws UnreadableException {
        Row row = RowAvro.fromAvro(rows.read(value));
        return new Entry.OfIdentity(answer == null ? row : answer.keep(row));
    }

    private Entry document(byte[] value) throws UnreadableException {
        return new Entry.OfDocument(DocumentAvro.fromAvro(documents.read(value)));
    }
}
