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
 * Decodes Avro values of one type. It does not call the schema registry; the caller passes the writer schema.
 * Thread-safe.
 *
 * @param <T> the type of the decoded records
 */
public final class RecordReader<T extends IndexedRecord> {
    private final GenericData data;
    private final Schema schema;
    private final Map<Schema, DatumReader<T>> readers = new ConcurrentHashMap<>();

    private RecordReader(GenericData data, Schema schema) {
        this.data = data;
        this.schema = schema;
    }

    /** Creates a reader for a generated class. It applies the conversions of the class (uuid, time). */
    public static <T extends SpecificRecord> RecordReader<T> of(Class<T> type) {
        return new RecordReader<>(
                GeneratedClasses.modelOf(type), SpecificData.get().getSchema(type));
    }

    /**
     * Creates a reader for generic records without conversions: a uuid is a string, a time is a number.
     *
     * @param schema the reader schema
     */
    public static RecordReader<GenericRecord> of(Schema schema) {
        return new RecordReader<>(new GenericData(), schema);
    }

    /**
     * Decodes a value.
     *
     * @param value the value of a Kafka record: header and Avro record
     * @param writer the schema with the id in the header
     * @throws SerializationException if the bytes are not exactly one Avro record, or the writer schema is incompatible
     */
    public T decode(byte[] value, Schema writer) {
        // Called for its check that the value has a header.
        WireFormat.schemaId(value);
        DatumReader<T> reader = readers.get(writer);
        return ThreadCodec.read(value, reader != null ? reader : newReader(writer), schema.getFullName());
    }

    private DatumReader<T> newReader(Schema writer) {
        DatumReader<T> reader = createReader(writer, schema, data);
        ConfluentSchemaRegistry.clearedIfFull(readers).put(writer, reader);
        return reader;
    }

    /**
     * Creates a thread-safe reader, with Avro's FastReaderBuilder. GenericDatumReader and SpecificDatumReader are not
     * thread-safe, because their initialization is lazy and not synchronized.
     */
    static <T> DatumReader<T> createReader(Schema writer, Schema reader, GenericData data) {
        try {
            return data.getFastReaderBuilder().createDatumReader(writer, reader);
        } catch (IOException | AvroRuntimeException e) {
            throw new SerializationException(
                    writer.getFullName() + " cannot be read as " + reader.getFullName() + ": " + e.getMessage(), e);
        }
    }
}
