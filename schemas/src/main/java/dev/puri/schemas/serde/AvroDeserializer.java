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
 * Confluent's wire format to Avro records. Takes Confluent's configuration: the keys of {@link
 * ConfluentSchemaRegistry}, {@code specific.avro.reader} (default false: generic records; true: the
 * generated class that the writer's schema names, read by that class's schema), {@code
 * avro.use.logical.type.converters} (default false: generic records hold plain values), and {@code
 * key}/{@code value.subject.name.strategy} as {@link AvroSerializer} does. Thread-safe once configured.
 */
public final class AvroDeserializer implements Deserializer<Object> {
    /** A topic's values have a handful of schemas; emptied at this size. */
    private static final int MAX_CACHED = 1000;

    private final Map<Integer, Reading> readings = new ConcurrentHashMap<>();
    private GenericData generic = new GenericData();
    private @Nullable ConfluentSchemaRegistry registry;
    private String subjectSuffix = "-value";
    private boolean specific;

    /** The way to read what one schema wrote. */
    private record Reading(DatumReader<Object> reader, String name) {}

    /**
     * @throws org.apache.kafka.common.config.ConfigException when a key is missing or wrong, or asks
     *     for what this class does not do
     */
    @Override
    public void configure(Map<String, ?> configs, boolean isKey) {
        SerdeSettings.requireTopicNames(configs, isKey);
        this.specific = SerdeSettings.flag(configs, SerdeSettings.SPECIFIC, false);
        if (SerdeSettings.flag(configs, SerdeSettings.LOGICAL_TYPES, false)) {
            this.generic = Converted.generic();
        }
        this.subjectSuffix = isKey ? "-key" : "-value";
        this.registry = ConfluentSchemaRegistry.create(configs);
    }

    /**
     * @return a GenericRecord or SpecificRecord, or what else the writer's schema describes; null for
     *     null
     * @throws RegistryUnavailableException when a new id's schema cannot be had within the bound
     * @throws UnknownSchemaException when the registry has no schema with the id
     * @throws SerializationException when the bytes do not fit the schema, or no generated class has
     *     its name
     */
    @Override
    public @Nullable Object deserialize(String topic, byte @Nullable [] value) {
        if (value == null) {
            return null;
        }
        int id = WireFormat.schemaId(value);
        Reading reading = readings.get(id);
        if (reading == null) {
            reading = readingOf(id, topic + subjectSuffix);
        }
        return Workspace.read(value, reading.reader(), reading.name());
    }

    /** An id alone tells a person little; the subject tells whose records cannot be read. */
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

    private Reading readingOf(int id, String subject) {
        Schema writer = writer(id, subject);
        Reading reading;
        if (specific && writer.getType() == Schema.Type.RECORD) {
            Class<? extends SpecificRecord> type = generatedClass(writer);
            Schema reader = SpecificData.get().getSchema(type);
            reading = new Reading(
                    RecordReader.reader(writer, reader, GeneratedClasses.modelOf(type)), reader.getFullName());
        } else {
            reading = new Reading(RecordReader.reader(writer, writer, generic), writer.getFullName());
        }
        if (readings.size() >= MAX_CACHED) {
            readings.clear();
        }
        readings.put(id, reading);
        return reading;
    }

    /** Found without running its static code first: the name comes from the wire. */
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
