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
 * Serializes generated or generic Avro records in Confluent's wire format. It accepts Confluent's configuration, so
 * {@code io.confluent.kafka.serializers.KafkaAvroSerializer} can replace it without other changes:
 *
 * <ul>
 *   <li>the keys of {@link ConfluentSchemaRegistry}
 *   <li>{@code auto.register.schemas} (default true)
 *   <li>{@code use.latest.version} (default false)
 *   <li>{@code avro.remove.java.properties} (default true, Confluent's default is false): schemas of generated classes
 *       are registered in their {@linkplain RegisteredForm registered form}
 *   <li>{@code key.subject.name.strategy} and {@code value.subject.name.strategy}: only the topic-name strategy
 * </ul>
 *
 * <p>Generic records may contain converted values (UUID, types of java.time, BigDecimal) or unconverted values.
 * Thread-safe once configured.
 */
public final class AvroSerializer implements Serializer<Object> {
    private static final GenericData GENERIC = LogicalTypeConversions.genericData();

    private final Map<String, Map<Schema, CachedWriter>> writersByTopic = new ConcurrentHashMap<>();
    private @Nullable ConfluentSchemaRegistry registry;
    private boolean isKey;
    private boolean autoRegister;
    private boolean useLatest;
    private boolean removeJavaProperties = true;

    /**
     * The writer for records of a schema.
     *
     * @param id the schema id for the header
     * @param isUnconverted false if the writer converts the records to another schema
     */
    private record CachedWriter(int id, DatumWriter<Object> writer, boolean isUnconverted) {}

    /**
     * @throws org.apache.kafka.common.config.ConfigException if a key is missing, invalid or not supported
     */
    @Override
    public void configure(Map<String, ?> configs, boolean isKey) {
        SerdeSettings.requireTopicNameStrategy(configs, isKey);
        this.isKey = isKey;
        this.autoRegister = SerdeSettings.flag(configs, SerdeSettings.AUTO_REGISTER, true);
        this.useLatest = SerdeSettings.flag(configs, SerdeSettings.USE_LATEST, false);
        this.removeJavaProperties = SerdeSettings.flag(configs, SerdeSettings.REMOVE_JAVA_PROPERTIES, true);
        this.registry = ConfluentSchemaRegistry.create(configs);
    }

    /**
     * @return null if the data is null
     * @throws SchemaRegistryUnavailableException if the id of a new schema cannot be fetched within the retries
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
            throw new SerializationException("only Avro records can be serialized, not "
                    + data.getClass().getName());
        }
        Schema schema = datum.getSchema();
        Map<Schema, CachedWriter> writers = writersByTopic.get(topic);
        CachedWriter cached = writers == null ? null : writers.get(schema);
        if (cached == null) {
            cached = newWriter(topic, datum);
        }
        return ThreadCodec.write(cached.id(), cached.writer(), datum, schema.getFullName());
    }

    /**
     * Returns the schema id that this serializer writes for records of a schema. Sends no request to the schema
     * registry.
     *
     * @return empty if no record of the schema has been serialized for the topic yet, or if the records are converted
     *     to another schema
     */
    public OptionalInt idOf(String topic, Schema schema) {
        Map<Schema, CachedWriter> writers = writersByTopic.get(topic);
        CachedWriter cached = writers == null ? null : writers.get(schema);
        return cached == null || !cached.isUnconverted() ? OptionalInt.empty() : OptionalInt.of(cached.id());
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
        Map<Schema, CachedWriter> writers = ConfluentSchemaRegistry.clearedIfFull(writersByTopic)
                .computeIfAbsent(topic, t -> new ConcurrentHashMap<>());
        ConfluentSchemaRegistry.clearedIfFull(writers).put(schema, cached);
        return cached;
    }

    private static DatumWriter<Object> writer(IndexedRecord datum) {
        return datum instanceof SpecificRecord
                ? new SpecificDatumWriter<>(datum.getSchema(), GeneratedClasses.modelOf(datum.getClass()))
                : new GenericDatumWriter<>(datum.getSchema(), GENERIC);
    }

    private static DatumWriter<Object> writer(IndexedRecord datum, Schema latest, String subject) {
        Schema recordSchema = datum.getSchema();
        if (RegisteredForm.isSame(recordSchema, latest)) {
            return writer(datum);
        }
        SchemaPairCompatibility compatibility =
                SchemaCompatibility.checkReaderWriterCompatibility(latest, recordSchema);
        if (compatibility.getType() != SchemaCompatibility.SchemaCompatibilityType.COMPATIBLE) {
            throw new IncompatibleSchemaException(
                    "subject " + subject + ": its latest schema cannot read " + recordSchema.getFullName() + ": "
                            + compatibility.getResult().getIncompatibilities(),
                    null);
        }
        return new ConvertingWriter(writer(datum), recordSchema, latest);
    }

    @Override
    public void close() {
        if (registry != null) {
            registry.close();
        }
    }

    /** Converts records to the latest schema of the subject by Avro's schema resolution, then writes them. */
    private static final class ConvertingWriter implements DatumWriter<Object> {
        private final DatumWriter<Object> recordWriter;
        private final DatumReader<GenericRecord> latestReader;
        private final DatumWriter<GenericRecord> latestWriter;

        ConvertingWriter(DatumWriter<Object> recordWriter, Schema recordSchema, Schema latest) {
            GenericData unconverted = new GenericData();
            this.recordWriter = recordWriter;
            this.latestReader = RecordReader.createReader(recordSchema, latest, unconverted);
            this.latestWriter = new GenericDatumWriter<>(latest, unconverted);
        }

        @Override
        public void setSchema(Schema schema) {
            throw new UnsupportedOperationException("the schemas of this writer cannot change");
        }

        @Override
        public void write(Object datum, Encoder out) throws IOException {
            latestWriter.write(ThreadCodec.convert(datum, recordWriter, latestReader), out);
        }
    }
}
