package dev.puri.schemas.serde;

import java.io.IOException;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaCompatibility.SchemaPairCompatibility;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.io.DatumReader;
import org.apache.avro.io.DatumWriter;
import org.apache.avro.io.Encoder;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/**
 * Serializes generated or generic Avro records to Confluent's wire format. It accepts Confluent's configuration: the
 * keys of {@link ConfluentSchemaRegistry}, {@code auto.register.schemas} (default true), {@code use.latest.version}
 * (default false), {@code avro.remove.java.properties} (default true: schemas of generated classes are registered in
 * their {@linkplain RegisteredForm registered form}; Confluent's default is false), and {@code key}/{@code
 * value.subject.name.strategy}, of which only the topic-name strategy is supported. So {@code
 * io.confluent.kafka.serializers.KafkaAvroSerializer} can replace it without other changes.
 *
 * <p>Generic records may contain converted values (UUID, Instant and the rest of java.time, BigDecimal) or plain ones.
 * Thread-safe once configured.
 */
public final class AvroSerializer implements Serializer<Object> {
    /** Size at which a cache is cleared; a topic's values normally have few schemas. */
    private static final int MAX_CACHED = 1000;

    private static final GenericData GENERIC = ConvertingData.generic();

    private final Map<String, Map<Schema, CachedWriter>> topics = new ConcurrentHashMap<>();
    private @Nullable ConfluentSchemaRegistry registry;
    private boolean isKey;
    private boolean autoRegister;
    private boolean useLatest;
    private boolean removeJavaProperties = true;

    /**
     * The writer for a schema, and the schema's id for the header.
     *
     * @param isOwnForm false if the writer converts records to another schema
     */
    private record CachedWriter(int id, DatumWriter<Object> writer, boolean isOwnForm) {}

    /**
     * @throws org.apache.kafka.common.config.ConfigException if a key is missing, invalid or not supported
     */
    @Override
    public void configure(Map<String, ?> configs, boolean isKey) {
        SerdeSettings.requireTopicNames(configs, isKey);
        this.isKey = isKey;
        this.autoRegister = SerdeSettings.flag(configs, SerdeSettings.AUTO_REGISTER, true);
        this.useLatest = SerdeSettings.flag(configs, SerdeSettings.USE_LATEST, false);
        this.removeJavaProperties = SerdeSettings.flag(configs, SerdeSettings.REMOVE_JAVA_PROPERTIES, true);
        this.registry = ConfluentSchemaRegistry.create(configs);
    }

    /**
     * @return null for null
     * @throws RegistryUnavailableException if the id of a new schema cannot be fetched within the retries
     * @throws IncompatibleSchemaException if the registry refuses the schema, or the latest schema cannot read it
     * @throws UnknownSchemaException if the schema is not registered and automatic registration is off
     * @throws SerializationException if the data is not an Avro record or does not match its schema
     */
    @Override
    public byte @Nullable [] serialize(String topic, @Nullable Object data) {
        if (data == null) {
            return null;
        }
        if (!(data instanceof IndexedRecord datum)) {
            throw new SerializationException(
                    "only Avro records are written here, not " + data.getClass().getName());
        }
        Schema schema = datum.getSchema();
        Map<Schema, CachedWriter> known = topics.get(topic);
        CachedWriter cached = known == null ? null : known.get(schema);
        if (cached == null) {
            cached = newWriter(topic, datum);
        }
        return ThreadCodec.write(cached.id(), cached.writer(), datum, schema.getFullName());
    }

    /**
     * Returns the id in the header of records of a schema. Sends no request to the schema registry.
     *
     * @return empty if no record of the schema was serialized for the topic yet, or if they are converted to another schema
     */
    public OptionalInt idOf(String topic, Schema schema) {
        Map<Schema, CachedWriter> known = topics.get(topic);
        CachedWriter cached = known == null ? null : known.get(schema);
        return cached == null || !cached.isOwnForm() ? OptionalInt.empty() : OptionalInt.of(cached.id());
    }

    private CachedWriter newWriter(String topic, IndexedRecord datum) {
        if (registry == null) {
            throw new IllegalStateException("this serializer was not configured");
        }
        String subject = topic + (isKey ? "-key" : "-value");
        Schema schema = datum.getSchema();
        CachedWriter cached;
        if (useLatest) {
            ConfluentSchemaRegistry.Registered latest = registry.latest(subject);
            cached = new CachedWriter(
                    latest.id(),
                    writer(datum, latest.schema(), subject),
                    RegisteredForm.isSame(schema, latest.schema()));
        } else {
            Schema registered = removeJavaProperties ? RegisteredForm.of(schema) : schema;
            int id = autoRegister ? registry.register(subject, registered) : registry.idOf(subject, registered);
            cached = new CachedWriter(id, writer(datum), true);
        }
        if (topics.size() >= MAX_CACHED) {
            topics.clear();
        }
        Map<Schema, CachedWriter> known = topics.computeIfAbsent(topic, t -> new ConcurrentHashMap<>());
        if (known.size() >= MAX_CACHED) {
            known.clear();
        }
        known.put(schema, cached);
        return cached;
    }

    private static DatumWriter<Object> writer(IndexedRecord datum) {
        return datum instanceof SpecificRecord
                ? new SpecificDatumWriter<>(datum.getSchema(), GeneratedClasses.modelOf(datum.getClass()))
                : new GenericDatumWriter<>(datum.getSchema(), GENERIC);
    }

    private static DatumWriter<Object> writer(IndexedRecord datum, Schema latest, String subject) {
        Schema own = datum.getSchema();
        if (RegisteredForm.isSame(own, latest)) {
            return writer(datum);
        }
        SchemaPairCompatibility fit = SchemaCompatibility.checkReaderWriterCompatibility(latest, own);
        if (fit.getType() != SchemaCompatibility.SchemaCompatibilityType.COMPATIBLE) {
            throw new IncompatibleSchemaException(
                    "subject " + subject + ": its latest schema cannot read " + own.getFullName() + ": "
                            + fit.getResult().getIncompatibilities(),
                    null);
        }
        return new TranslatingWriter(writer(datum), own, latest);
    }

    @Override
    public void close() {
        if (registry != null) {
            registry.close();
        }
    }

    /** Writes a record in the subject's latest schema, converted by Avro's schema resolution. */
    private static final class TranslatingWriter implements DatumWriter<Object> {
        private final DatumWriter<Object> ownWriter;
        private final DatumReader<GenericRecord> toLatest;
        private final DatumWriter<GenericRecord> latestWriter;

        TranslatingWriter(DatumWriter<Object> ownWriter, Schema own, Schema latest) {
            GenericData plain = new GenericData();
            this.ownWriter = ownWriter;
            this.toLatest = RecordReader.reader(own, latest, plain);
            this.latestWriter = new GenericDatumWriter<>(latest, plain);
        }

        @Override
        public void setSchema(Schema schema) {
            throw new UnsupportedOperationException("the schemas of a translation are fixed");
        }

        @Override
        public void write(Object datum, Encoder out) throws IOException {
            latestWriter.write(ThreadCodec.translate(datum, ownWriter, toLatest), out);
        }
    }
}
