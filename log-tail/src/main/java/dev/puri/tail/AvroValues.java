package dev.puri.tail;

import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RegistryUnavailableException;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.WireFormat;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.common.errors.SerializationException;

/**
 * Values of one topic. What is wrong with a value is told apart from a schema registry that is away.
 *
 * @param <T> what is read
 */
public final class AvroValues<T extends SpecificRecord> {
    private final SchemaRegistry registry;
    private final RecordReader<T> reader;

    /** The bytes are no such record. The message says why. */
    public static final class UnreadableException extends Exception {
        private static final long serialVersionUID = 1L;

        UnreadableException(RuntimeException cause) {
            super(cause.getMessage(), cause);
        }
    }

    /**
     * @param registry of which the schemas are asked; not closed
     */
    public AvroValues(Class<T> type, SchemaRegistry registry) {
        this.registry = registry;
        this.reader = RecordReader.of(type);
    }

    /**
     * Reads a whole Kafka value.
     *
     * @throws UnreadableException when it never will be read
     * @throws RegistryUnavailableException when it cannot be read now
     */
    public T read(byte[] value) throws UnreadableException {
        try {
            return reader.decode(value, registry.byId(WireFormat.schemaId(value)));
        } catch (RegistryUnavailableException e) {
            throw e;
        } catch (SerializationException | AvroRuntimeException e) {
            throw new UnreadableException(e);
        }
    }
}
