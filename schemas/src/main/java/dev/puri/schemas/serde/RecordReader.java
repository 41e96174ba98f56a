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
 * Values of one type, read without a word to the schema registry: the caller brings the schema that a
 * value was written with. Thread-safe.
 *
 * @param <T> what is read
 */
public final class RecordReader<T extends IndexedRecord> {
    /** Bounds what is kept for schemas that come and go; a topic's values have a handful. */
    private static final int MAX_CACHED = 1000;

    private final GenericData data;
    private final Schema schema;
    private final Map<Schema, DatumReader<T>> readers = new ConcurrentHashMap<>();

    private RecordReader(GenericData data, Schema schema) {
        this.data = data;
        this.schema = schema;
    }

    /** Reads into a generated class, by its own schema, with its conversions (uuid, time). */
    public static <T extends SpecificRecord> RecordReader<T> of(Class<T> type) {
        return new RecordReader<>(
                GeneratedClasses.modelOf(type), SpecificData.get().getSchema(type));
    }

    /**
     * Reads into generic records with plain Avro values: a uuid stays the text, a time the number
     * that was written.
     *
     * @param schema the reader's
     */
    public static RecordReader<GenericRecord> of(Schema schema) {
        return new RecordReader<>(new GenericData(), schema);
    }

    /**
     * @param value a whole Kafka value, header and record
     * @param writer the schema with the header's id
     * @throws SerializationException when the bytes are not one such record and nothing more, or the
     *     writer's schema does not fit
     */
    public T decode(byte[] value, Schema writer) {
        // The caller knows the writer's schema by the id, so the header is there; who does not is told.
        WireFormat.schemaId(value);
        DatumReader<T> reader = readers.get(writer);
        return Workspace.read(value, reader != null ? reader : readerFor(writer), schema.getFullName());
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
     * Built once and then only read, unlike Avro's own DatumReaders, which build themselves on first
     * use and hand the result from thread to thread unguarded.
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
