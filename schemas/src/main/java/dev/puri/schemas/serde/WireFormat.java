package dev.puri.schemas.serde;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.kafka.common.errors.SerializationException;

/**
 * Confluent's wire format: a zero byte, the schema's id as four bytes big-endian, then the record in
 * Avro's binary encoding.
 */
public final class WireFormat {
    /** Length of the header before the record, in bytes. */
    public static final int HEADER_LENGTH = 5;

    static final byte MAGIC = 0;
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

    private WireFormat() {}

    /**
     * Returns the id of the schema that a value was written with.
     *
     * @param value a whole Kafka value
     * @throws SerializationException if there are too few bytes or the first is not zero
     */
    public static int schemaId(byte[] value) {
        return schemaId(ByteBuffer.wrap(value));
    }

    /**
     * Returns the id of the schema that a value was written with. Does not change the buffer's position.
     *
     * @param value a whole Kafka value, from the buffer's position to its limit
     * @throws SerializationException if there are too few bytes or the first is not zero
     */
    public static int schemaId(ByteBuffer value) {
        if (value.remaining() < HEADER_LENGTH) {
            throw new SerializationException("a value of " + value.remaining()
                    + " bytes is too short to name its schema, which takes " + HEADER_LENGTH);
        }
        byte magic = value.get(value.position());
        if (magic != MAGIC) {
            throw new SerializationException(
                    String.format("a value begins with 0x00 and its schema's id, this one with 0x%02X", magic));
        }
        return value.getInt(value.position() + 1);
    }

    /**
     * Whether a value was written with the schema of this id.
     *
     * @param value a whole Kafka value
     */
    public static boolean isOf(int schemaId, byte[] value) {
        return value.length >= HEADER_LENGTH && value[0] == MAGIC && (int) INTS.get(value, 1) == schemaId;
    }

    /** Writes the header of a value: the zero byte and the id of its schema. */
    public static void putHeader(int schemaId, ByteBuffer out) {
        out.put(MAGIC).putInt(schemaId);
    }
}
