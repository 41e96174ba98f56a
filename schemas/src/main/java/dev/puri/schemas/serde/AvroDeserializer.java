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
 * Deserializes Avro records in Confluent's wire format. It accepts Confluent's configuration:
 *
 * <ul>
 *   <li>the keys of {@link ConfluentSchemaRegistry}
 *   <li>{@code specific.avro.reader}: with false, the default, it returns generic records; with true, it returns
 *       instances of the generated class that has the name of the writer schema, and the schema of the class is the
 *       reader schema
 *   <li>{@code avro.use.logical.type.converters} (default false): whether the values of generic records are converted
 *   <li>{@code key.subject.name.strategy} and {@code value.subject.name.strategy}: only the topic-name strategy
 * </ul>
 *
 * <p>Thread-safe once configured.
 */
public final class AvroDeserializer implements Deserializer<Object> {
    private final Map<Integer, CachedReader> readers = new ConcurrentHashMap<>();
    private GenericData genericData = new GenericData();
    private @Nullable ConfluentSchemaRegistry registry;
    private String subjectSuffix = "-value";
    private boolean isSpecific;

    /** The reader for a writer schema, and the name of the record for messages. */
    private record CachedReader(DatumReader<Object> reader, String recordName) {}

    /**
     * @throws org.apache.kafka.common.config.ConfigException if a key is missing, invalid or not supported
     */
    @Override
    public void configure(Map<String, ?> configs, boolean isKey) {
        SerdeSettings.requireTopicNameStrategy(configs, isKey);
        this.isSpecific = SerdeSettings.flag(configs, SerdeSettings.SPECIFIC, false);
        if (SerdeSettings.flag(configs, SerdeSettings.LOGICAL_TYPES, false)) {
            this.genericData = LogicalTypeConversions.genericData();
        }
        this.subjectSuffix = isKey ? "-key" : "-value";
        this.registry = ConfluentSchemaRegistry.create(configs);
    }

    /**
     * @return a GenericRecord or SpecificRecord, or another value if the writer schema is not a record; null if the
     *     value is null
     * @throws SchemaRegistryUnavailableException if the schema of a new id cannot be fetched within the retries
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
        return ThreadCodec.read(value, cached.reader(), cached.recordName());
    }

    /**
     * Fetches the writer schema. Error messages contain the subject, because an id alone does not identify the records.
     */
    private Schema writerSchema(int id, String subject) {
        if (registry == null) {
            throw new IllegalStateException("this deserializer was not configured");
        }
        try {
            return registry.byId(id);
        } catch (UnknownSchemaException e) {
            throw new UnknownSchemaException("subject " + subject + ": " + e.getMessage(), e);
        } catch (SchemaRegistryUnavailableException e) {
            throw new SchemaRegistryUnavailableException("subject " + subject + ": " + e.getMessage(), e);
        }
    }

    private CachedReader newReader(int id, String subject) {
        Schema writer = writerSchema(id, subject);
        CachedReader cached;
        if (isSpecific && writer.getType() == Schema.Type.RECORD) {
            Class<? extends SpecificRecord> type = generatedClass(writer);
            Schema reader = SpecificData.get().getSchema(type);
            cached = new CachedReader(
                    RecordReader.createReader(writer, reader, GeneratedClasses.modelOf(type)), reader.getFullName());
        } else {
            cached = new CachedReader(RecordReader.createReader(writer, writer, genericData), writer.getFullName());
        }
        ConfluentSchemaRegistry.clearedIfFull(readers).put(id, cached);
        return cached;
    }

    /** Finds the generated class. The class is not initialized, because its name comes from untrusted data. */
    private static Class<? extends SpecificRecord> generatedClass(Schema writer) {
        String name = SpecificData.getClassName(writer);
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        try {
            Class<?> type =
                    Class.forName(name, false, context != null ? context : AvroDeserializer.class.getClassLoader());
            return type.asSubclass(SpecificRecord.class);
        } catch (ClassNotFoundException | ClassCastException | LinkageError e) {
            throw new SerializationException(
                    "specific.avro.reader is true, but there is no generated class " + name, e);
        }
    }

    @Override
    public void close() {
        if (registry != null) {
            registry.close();
        }
    }
}
