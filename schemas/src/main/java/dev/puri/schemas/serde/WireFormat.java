package dev.puri.schemas.serde;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.kafka.common.errors.SerializationException;

/**
 * Confluent's wire format: a header of a zero byte and the schema id in four bytes, big-endian, then the record in
 * Avro's binary encoding.
 */
public final class WireFormat {
    /** Length of the header in bytes. */
    public static final int HEADER_LENGTH = 5;

    static final byte MAGIC = 0;
    private static final VarHandle INT_VIEW = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

    private WireFormat() {}

    /**
     * Returns the id of the schema with which a value was written.
     *
     * @param value the value of a Kafka record
     * @throws SerializationException if there are too few bytes or the first byte is not zero
     */
    public static int schemaId(byte[] value) {
        return schemaId(ByteBuffer.wrap(value));
    }

    /**
     * Returns the id of the schema with which a value was written. The position of the buffer does not change.
     *
     * @param value the value of a Kafka record, from the buffer's position to its limit
     * @throws SerializationException if there are too few bytes or the first byte is not zero
     */
    public static int schemaId(ByteBuffer value) {
        if (value.remaining() < HEADER_LENGTH) {
            throw new SerializationException("a value must have a header of " + HEADER_LENGTH
                    + " bytes; this value has " + value.remaining() + " bytes");
        }
        byte magic = value.get(value.position());
        if (magic != MAGIC) {
            throw new SerializationException(String.format(
                    "a value must begin with 0x00 and the schema id; this value begins with 0x%02X", magic));
        }
        return value.getInt(value.position() + 1);
    }

    /**
     * Returns whether a value was written with the schema that has this id. False for a value without a valid header.
     *
     * @param value the value of a Kafka record
     */
    public static boolean hasSchemaId(byte[] value, int schemaId) {
        return value.length >= HEADER_LENGTH && value[0] == MAGIC && (int) INT_VIEW.get(value, 1) == schemaId;
    }

    /** Writes the header of a value: the zero byte and the schema id. */
    public static void putHeader(int schemaId, ByteBuffer out) {
        out.put(MAGIC).putInt(schemaId);
    }
}
