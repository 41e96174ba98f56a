package dev.puri.projection;

import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import dev.puri.schemas.serde.WireFormat;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.common.errors.SerializationException;

/**
 * Decodes the Avro values of one topic. Distinguishes values that can never be decoded from a schema registry that is
 * unavailable.
 *
 * @param <T> the type of the values
 */
public final class AvroValueDecoder<T extends SpecificRecord> {
    private final SchemaRegistry registry;
    private final RecordReader<T> reader;

    /** The value is not a record of this type. The message says why. */
    public static final class UnreadableException extends Exception {
        private static final long serialVersionUID = 1L;

        UnreadableException(RuntimeException cause) {
            super(cause.getMessage(), cause);
        }
    }

    /**
     * @param registry resolves schema ids; this class does not close it
     */
    public AvroValueDecoder(Class<T> type, SchemaRegistry registry) {
        this.registry = registry;
        this.reader = RecordReader.of(type);
    }

    /**
     * Decodes the value of a Kafka record.
     *
     * @throws UnreadableException if the value can never be decoded
     * @throws SchemaRegistryUnavailableException if the schema registry is unavailable
     */
    public T read(byte[] value) throws UnreadableException {
        try {
            return reader.decode(value, registry.byId(WireFormat.schemaId(value)));
        } catch (SchemaRegistryUnavailableException e) {
            throw e;
        } catch (SerializationException | AvroRuntimeException e) {
            throw new UnreadableException(e);
        }
    }
}
