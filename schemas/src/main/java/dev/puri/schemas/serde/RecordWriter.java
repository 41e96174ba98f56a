package dev.puri.schemas.serde;

import org.apache.avro.Schema;
import org.apache.avro.io.DatumWriter;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.common.errors.SerializationException;

/**
 * Encodes records of a generated class. It does not call the schema registry; the caller passes the schema id.
 * Thread-safe.
 *
 * @param <T> the generated class
 */
public final class RecordWriter<T extends SpecificRecord> {
    private final Schema registeredSchema;
    private final DatumWriter<T> writer;

    private RecordWriter(Schema schema, SpecificData data) {
        this.registeredSchema = RegisteredForm.of(schema);
        this.writer = new SpecificDatumWriter<>(schema, data);
    }

    /** Creates a writer for a generated class. */
    public static <T extends SpecificRecord> RecordWriter<T> of(Class<T> type) {
        return new RecordWriter<>(SpecificData.get().getSchema(type), GeneratedClasses.modelOf(type));
    }

    /** The schema of the class in its {@linkplain RegisteredForm registered form}. */
    public Schema schema() {
        return registeredSchema;
    }

    /**
     * Encodes a record.
     *
     * @param schemaId id of {@link #schema()} in the schema registry
     * @return the value of a Kafka record: header and Avro record
     * @throws SerializationException if a field does not match the schema
     */
    public byte[] encode(int schemaId, T datum) {
        return ThreadCodec.write(schemaId, writer, datum, registeredSchema.getFullName());
    }
}
