package dev.puri.schemas.serde;

import org.apache.avro.Schema;
import org.apache.avro.io.DatumWriter;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.common.errors.SerializationException;

/**
 * Encodes values of a generated class. It does not call the schema registry; the caller passes the schema's id.
 * Thread-safe.
 *
 * @param <T> the type
 */
public final class RecordWriter<T extends SpecificRecord> {
    private final Schema registered;
    private final DatumWriter<T> writer;

    private RecordWriter(Schema schema, SpecificData data) {
        this.registered = RegisteredForm.of(schema);
        this.writer = new SpecificDatumWriter<>(schema, data);
    }

    /** Creates a writer for a generated class. */
    public static <T extends SpecificRecord> RecordWriter<T> of(Class<T> type) {
        return new RecordWriter<>(SpecificData.get().getSchema(type), GeneratedClasses.modelOf(type));
    }

    /** The schema to register: the class's, in its {@linkplain RegisteredForm registered form}. */
    public Schema schema() {
        return registered;
    }

    /**
     * Encodes a value.
     *
     * @param schemaId id of {@link #schema()} in the schema registry
     * @return a whole Kafka value, header and record
     * @throws SerializationException if a field does not match the schema
     */
    public byte[] encode(int schemaId, T datum) {
        return ThreadCodec.write(schemaId, writer, datum, registered.getFullName());
    }
}
