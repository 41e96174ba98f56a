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
 * Avro records, generated or generic, to Confluent's wire format. Takes Confluent's configuration: the
 * keys of {@link ConfluentSchemaRegistry}, {@code auto.register.schemas} (default true), {@code
 * use.latest.version} (default false), {@code avro.remove.java.properties} (default true: generated
 * classes' schemas are registered in their {@linkplain RegisteredForm registered form}; Confluent's
 * default is false), and {@code key}/{@code value.subject.name.strategy}, of which only the topic-name
 * strategy is known. So {@code io.confluent.kafka.serializers.KafkaAvroSerializer}
 * takes its place by a change of class name.
 *
 * <p>Generic records may hold converted values (UUID, Instant and the rest of java.time, BigDecimal)
 * or plain ones. Thread-safe once configured.
 */
public final class AvroSerializer implements Serializer<Object> {
    /** A topic's values have a handful of schemas; emptied at this size. */
    private static final int MAX_CACHED = 1000;

    private static final GenericData GENERIC = Converted.generic();

    private final Map<String, Map<Schema, Prepared>> topics = new ConcurrentHashMap<>();
    private @Nullable ConfluentSchemaRegistry registry;
    private boolean isKey;
    private boolean autoRegister;
    private boolean useLatest;
    private boolean removeJavaProperties = true;

    /**
     * The way to write one schema's records: the id to put in front, the writer behind.
     *
     * @param isOwnForm false if the writer changes records to another schema
     */
    private record Prepared(int id, DatumWriter<Object> writer, boolean isOwnForm) {}

    /**
     * @throws org.apache.kafka.common.config.ConfigException when a key is missing or wrong, or asks
     *     for what this class does not do
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
     * @throws RegistryUnavailableException when a new schema's id cannot be had within the bound
     * @throws IncompatibleSchemaException when the registry refuses the schema, or the latest one
     *     cannot read it
     * @throws UnknownSchemaException when the schema is not registered and may not be
     * @throws SerializationException when the data is no Avro record or does not fit its schema
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
        Map<Schema, Prepared> known = topics.get(topic);
        Prepared prepared = known == null ? null : known.get(schema);
        if (prepared == null) {
            prepared = prepare(topic, datum);
        }
        return Workspace.write(prepared.id(), prepared.writer(), datum, schema.getFullName());
    }

    /**
     * The id that is written before records of a schema. Asks no schema registry.
     *
     * @return empty until a record of the schema was written to the topic, and when it was written by another schema
     */
    public OptionalInt idOf(String topic, Schema schema) {
        Map<Schema, Prepared> known = topics.get(topic);
        Prepared prepared = known == null ? null : known.get(schema);
        return prepared == null || !prepared.isOwnForm() ? OptionalInt.empty() : OptionalInt.of(prepared.id());
    }

    private Prepared prepare(String topic, IndexedRecord datum) {
        if (registry == null) {
            throw new IllegalStateException("this serializer was not configured");
        }
        String subject = topic + (isKey ? "-key" : "-value");
        Schema schema = datum.getSchema();
        Prepared prepared;
        if (useLatest) {
            ConfluentSchemaRegistry.Registered latest = registry.latest(subject);
            prepared = new Prepared(
                    latest.id(),
                    writer(datum, latest.schema(), subject),
                    RegisteredForm.isSame(schema, latest.schema()));
        } else {
            Schema registered = removeJavaProperties ? RegisteredForm.of(schema) : schema;
            int id = autoRegister ? registry.register(subject, registered) : registry.idOf(subject, registered);
            prepared = new Prepared(id, writer(datum), true);
        }
        if (topics.size() >= MAX_CACHED) {
            topics.clear();
        }
        Map<Schema, Prepared> known = topics.computeIfAbsent(topic, t -> new ConcurrentHashMap<>());
        if (known.size() >= MAX_CACHED) {
            known.clear();
        }
        known.put(schema, prepared);
        return prepared;
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
        return new Translation(writer(datum), own, latest);
    }

    @Override
    public void close() {
        if (registry != null) {
            registry.close();
        }
    }

    /** Writes a record as the subject's latest schema has it: what Avro's resolution makes of it when read. */
    private static final class Translation implements DatumWriter<Object> {
        private final DatumWriter<Object> ownWriter;
        private final DatumReader<GenericRecord> toLatest;
        private final DatumWriter<GenericRecord> latestWriter;

        Translation(DatumWriter<Object> ownWriter, Schema own, Schema latest) {
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
            latestWriter.write(Workspace.translate(datum, ownWriter, toLatest), out);
        }
    }
}
