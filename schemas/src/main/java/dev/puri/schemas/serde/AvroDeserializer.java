package dev.puri.schemas.serde;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.io.DatumReader;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/**
 * Deserializes Avro records in Confluent's wire format. It accepts Confluent's configuration: the keys of {@link
 * ConfluentSchemaRegistry}, {@code specific.avro.reader} (default false: generic records; true: the generated class
 * that the writer's schema names, with that class's schema as the reader's), {@code avro.use.logical.type.converters}
 * (default false: generic records contain plain values), and {@code key}/{@code value.subject.name.strategy} like
 * {@link AvroSerializer}. Thread-safe once configured.
 */
public final class AvroDeserializer implements Deserializer<Object> {
    /** Size at which the cache is cleared; a topic's values normally have few schemas. */
    private static final int MAX_CACHED = 1000;

    private final Map<Integer, CachedReader> readers = new ConcurrentHashMap<>();
    private GenericData generic = new GenericData();
    private @Nullable ConfluentSchemaRegistry registry;
    private String subjectSuffix = "-value";
    private boolean specific;

    /** The reader for a writer's schema, and the record's name for messages. */
    private record CachedReader(DatumReader<Object> reader, String name) {}

    /**
     * @throws org.apache.kafka.common.config.ConfigException if a key is missing, invalid or not supported
     */
    @Override
    public void configure(Map<String, ?> configs, boolean isKey) {
        SerdeSettings.requireTopicNames(configs, isKey);
        this.specific = SerdeSettings.flag(configs, SerdeSettings.SPECIFIC, false);
        if (SerdeSettings.flag(configs, SerdeSettings.LOGICAL_TYPES, false)) {
            this.generic = ConvertingData.generic();
        }
        this.subjectSuffix = isKey ? "-key" : "-value";
        this.registry = ConfluentSchemaRegistry.create(configs);
    }

    /**
     * @return a GenericRecord or SpecificRecord, or another value if the writer's schema is not a record; null for null
     * @throws RegistryUnavailableException if the schema of a new id cannot be fetched within the retries
     * @throws UnknownSchemaException if the registry has no schema with the id
     * @throws SerializationException if the bytes do not match the schema, or there is no generated class with its name
     */
    @Override
    public @Nullable Object deserialize(String topic, byte @Nullable [] value) {
        if (value == null) {
            return null;
        }
        int id = WireFormat.schemaId(value);
        CachedReader cached = readers.get(id);
        if (cached == null) {
            cached = newReader(id, topic + subjectSuffix);
        }
        return ThreadCodec.read(value, cached.reader(), cached.name());
    }

    /** Fetches the writer's schema. Messages name the subject, because the id alone does not identify the records. */
    private Schema writer(int id, String subject) {
        if (registry == null) {
            throw new IllegalStateException("this deserializer was not configured");
        }
        try {
            return registry.byId(id);
        } catch (UnknownSchemaException e) {
            throw new UnknownSchemaException("subject " + subject + ": " + e.getMessage(), e);
        } catch (RegistryUnavailableException e) {
            throw new RegistryUnavailableException("subject " + subject + ": " + e.getMessage(), e);
        }
    }

    private CachedReader newReader(int id, String subject) {
        Schema writer = writer(id, subject);
        CachedReader cached;
        if (specific && writer.getType() == Schema.Type.RECORD) {
            Class<? extends SpecificRecord> type = generatedClass(writer);
            Schema reader = SpecificData.get().getSchema(type);
            cached = new CachedReader(
                    RecordReader.reader(writer, reader, GeneratedClasses.modelOf(type)), reader.getFullName());
        } else {
            cached = new CachedReader(RecordReader.reader(writer, writer, generic), writer.getFullName());
        }
        if (readers.size() >= MAX_CACHED) {
            readers.clear();
        }
        readers.put(id, cached);
        return cached;
    }

    /** Finds the class without initializing it, because its name comes from untrusted data. */
    private static Class<? extends SpecificRecord> generatedClass(Schema writer) {
        String name = SpecificData.getClassName(writer);
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        try {
            Class<?> type =
                    Class.forName(name, false, context != null ? context : AvroDeserializer.class.getClassLoader());
            return type.asSubclass(SpecificRecord.class);
        } catch (ClassNotFoundException | ClassCastException | LinkageError e) {
            throw new SerializationException("specific.avro.reader is on, but there is no generated class " + name, e);
        }
    }

    @Override
    public void close() {
        if (registry != null) {
            registry.close();
        }
    }
}
