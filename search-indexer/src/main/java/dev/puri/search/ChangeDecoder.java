package dev.puri.search;

import dev.puri.projection.AvroValueDecoder;
import dev.puri.projection.AvroValueDecoder.UnreadableException;
import dev.puri.projection.RecordKey;
import dev.puri.projection.wait.EventOutcome;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.DocumentAvro;
import dev.puri.schemas.log.Entry;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
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
 * Decodes records of the topics of identities and documents to changes of the index. A record that can never be decoded
 * or is misplaced ({@link RecordKey#puri}) is counted, logged and skipped, so the index keeps the previous entry of the
 * pURI.
 */
final class ChangeDecoder {
    private static final Logger log = LoggerFactory.getLogger(ChangeDecoder.class);

    /** The largest expected difference between the clocks of two machines. */
    private static final Duration CLOCK_SKEW = Duration.ofMinutes(1);

    /** Maximum age in {@link #publishedBeforeNanos}: an older document counts as this old. */
    private static final Duration MAX_AGE = Duration.ofHours(1);

    private final AvroValueDecoder<IdentityRow> rows;
    private final AvroValueDecoder<dev.puri.schemas.avro.Document> documents;
    private final OutcomeCache outcomes;
    private final AttributeLookup attributeLookup;
    private final Map<EntryKind, Counter> undecodableRecords = new EnumMap<>(EntryKind.class);

    /** Looks up how the attributes of a document are searched. */
    @FunctionalInterface
    interface AttributeLookup {
        /**
         * Returns the searched attributes of a document, with their weights.
         *
         * @param publishedBeforeNanos an upper bound for the time of the record, by {@link System#nanoTime}
         * @throws DeclaredAttributes.UnknownException if the declaration of its collection is not known yet
         */
        SearchedAttributes attributesOf(Puri puri, long publishedBeforeNanos);
    }

    /**
     * A decoded record.
     *
     * @param eventOutcome the event that the record answers, and its outcome; null for a document, or if the record has
     *     no valid headers
     * @param writtenAt the timestamp of the record
     * @param digest the digest of the partition that the record publishes; null for the record of an entry
     */
    record DecodedRecord(
            IndexChange change,
            @Nullable EventOutcome eventOutcome,
            Instant writtenAt,
            @Nullable PartitionDigest digest) {}

    /**
     * @param registry resolves schema ids; this decoder does not close it
     * @param outcomes reads the headers of a record: the event that it answers, and the outcome
     * @param attributeLookup looks up how the attributes of a document are searched
     */
    ChangeDecoder(
            SchemaRegistry registry, OutcomeCache outcomes, AttributeLookup attributeLookup, MeterRegistry meters) {
        this.outcomes = outcomes;
        this.attributeLookup = attributeLookup;
        rows = new AvroValueDecoder<>(IdentityRow.class, registry);
        documents = new AvroValueDecoder<>(dev.puri.schemas.avro.Document.class, registry);
        for (EntryKind kind : EntryKind.values()) {
            undecodableRecords.put(
                    kind,
                    Counter.builder("puri.search.undecodable")
                            .description(
                                    "Records that were skipped: they cannot be decoded, or are in another partition"
                                            + " than their pURI")
                            .tag("kind", kind.text())
                            .register(meters));
        }
    }

    /**
     * Decodes a record.
     *
     * @param partitions the number of partitions of the record's topic
     * @param polledAtNanos time of the poll that returned the record, by {@link System#nanoTime}
     * @return null if the record can never be decoded, or is misplaced
     * @throws SchemaRegistryUnavailableException if the schema registry does not answer now
     * @throws DeclaredAttributes.UnknownException if the declaration of the document's collection is not known yet
     */
    @Nullable
    DecodedRecord decode(ConsumerRecord<byte[], byte[]> record, int partitions, long polledAtNanos) {
        EntryKind kind = EntryKind.ofTopic(record.topic());
        try {
            Puri puri = RecordKey.puri(record.key(), record.headers(), record.partition(), partitions);
            EventOutcome eventOutcome =
                    kind == EntryKind.IDENTITY ? outcomes.read(puri, record.headers(), () -> location(record)) : null;
            byte[] value = record.value();
            Entry entry =
                    value == null ? null : kind == EntryKind.IDENTITY ? row(value, eventOutcome) : document(value);
            SearchedAttributes attributes = entry instanceof Document
                    ? attributeLookup.attributesOf(
                            puri,
                            publishedBeforeNanos(
                                    record.timestamp(), polledAtNanos, System.currentTimeMillis(), System.nanoTime()))
                    : SearchedAttributes.DEFAULT;
            return new DecodedRecord(
                    new IndexChange(kind, record.partition(), record.offset(), puri, entry, attributes),
                    eventOutcome,
                    Instant.ofEpochMilli(record.timestamp()),
                    entry == null && Topics.isMarker(puri) ? PartitionDigest.of(record.headers()) : null);
        } catch (UnreadableException | IllegalArgumentException e) {
            Objects.requireNonNull(undecodableRecords.get(kind)).increment();
            log.warn("Skipped the record at {}: {}", location(record), e.getMessage());
            return null;
        }
    }

    /**
     * Returns an upper bound for the time of a record, by {@link System#nanoTime}. A document of an undeclared
     * collection waits until the declarations are read up to this time. The poll's time is a bound too, but with it a
     * rebuild would wait at each undeclared collection. While a record is retried, the bound never exceeds that time.
     *
     * @param timestamp the record's, in milliseconds
     */
    static long publishedBeforeNanos(long timestamp, long polledAtNanos, long nowMillis, long nowNanos) {
        long ageMillis = Math.clamp(nowMillis - timestamp - CLOCK_SKEW.toMillis(), 0, MAX_AGE.toMillis());
        long byTimestamp = nowNanos - Duration.ofMillis(ageMillis).toNanos();
        return byTimestamp - polledAtNanos < 0 ? byTimestamp : polledAtNanos;
    }

    private static String location(ConsumerRecord<byte[], byte[]> record) {
        return record.topic() + "-" + record.partition() + "@" + record.offset();
    }

    private Entry row(byte[] value, @Nullable EventOutcome eventOutcome) throws UnreadableException {
        Row row = RowAvro.fromAvro(rows.read(value));
        return eventOutcome == null ? row : eventOutcome.rowToStore(row);
    }

    private Entry document(byte[] value) throws UnreadableException {
        return DocumentAvro.fromAvro(documents.read(value));
    }
}
