package dev.puri.schemas.serde;

import org.apache.avro.Schema;
import org.apache.avro.io.DatumWriter;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.common.errors.SerializationException;

/**
 * Values of one generated class, written without a word to the schema registry: the caller brings the
 * id that the class's schema has there. Thread-safe.
 *
 * @param <T> what is written
 */
public final class RecordWriter<T extends SpecificRecord> {
    private final Schema registered;
    private final DatumWriter<T> writer;

    private RecordWriter(Schema schema, SpecificData data) {
        this.registered = RegisteredForm.of(schema);
        this.writer = new SpecificDatumWriter<>(schema, data);
    }

    /** Writes a generated class by its own schema. */
    public static <T extends SpecificRecord> RecordWriter<T> of(Class<T> type) {
        return new RecordWriter<>(SpecificData.get().getSchema(type), GeneratedClasses.modelOf(type));
    }

    /** The schema to register: the class's, in its {@linkplain RegisteredForm registered form}. */
    public Schema schema() {
        return registered;
    }

    /**
     * @param schemaId of {@link #schema()} in the schema registry
     * @return a whole Kafka value, header and record
     * @throws SerializationException when a field does not fit the schema
     */
    public byte[] encode(int schemaId, T datum) {
        return Workspace.write(schemaId, writer, datum, registered.getFullName());
    }
}
