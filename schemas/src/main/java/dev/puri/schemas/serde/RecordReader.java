package dev.puri.schemas.serde;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.io.DatumReader;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.common.errors.SerializationException;

/**
 * Decodes values of one type. It does not call the schema registry; the caller passes the writer's schema. Thread-safe.
 *
 * @param <T> the type
 */
public final class RecordReader<T extends IndexedRecord> {
    /** Size at which the cache is cleared; a topic's values normally have few schemas. */
    private static final int MAX_CACHED = 1000;

    private final GenericData data;
    private final Schema schema;
    private final Map<Schema, DatumReader<T>> readers = new ConcurrentHashMap<>();

    private RecordReader(GenericData data, Schema schema) {
        this.data = data;
        this.schema = schema;
    }

    /** Creates a reader for a generated class, with its conversions (uuid, time). */
    public static <T extends SpecificRecord> RecordReader<T> of(Class<T> type) {
        return new RecordReader<>(
                GeneratedClasses.modelOf(type), SpecificData.get().getSchema(type));
    }

    /**
     * Creates a reader for generic records with plain Avro values: a uuid is a text, a time a number.
     *
     * @param schema the reader's schema
     */
    public static RecordReader<GenericRecord> of(Schema schema) {
        return new RecordReader<>(new GenericData(), schema);
    }

    /**
     * Decodes a value.
     *
     * @param value a whole Kafka value, header and record
     * @param writer the schema with the header's id
     * @throws SerializationException if the bytes are not exactly one record, or the writer's schema is incompatible
     */
    public T decode(byte[] value, Schema writer) {
        // Only checks that the value has a header.
        WireFormat.schemaId(value);
        DatumReader<T> reader = readers.get(writer);
        return ThreadCodec.read(value, reader != null ? reader : readerFor(writer), schema.getFullName());
    }

    private DatumReader<T> readerFor(Schema writer) {
        DatumReader<T> reader = reader(writer, schema, data);
        if (readers.size() >= MAX_CACHED) {
            readers.clear();
        }
        readers.put(writer, reader);
        return reader;
    }

    /**
     * Creates a thread-safe reader. Avro's own DatumReaders initialize themselves lazily, without synchronization.
     */
    static <T> DatumReader<T> reader(Schema writer, Schema reader, GenericData data) {
        try {
            return data.getFastReaderBuilder().createDatumReader(writer, reader);
        } catch (IOException | AvroRuntimeException e) {
            throw new SerializationException(
                    writer.getFullName() + " cannot be read as " + reader.getFullName() + ": " + e.getMessage(), e);
        }
    }
}
