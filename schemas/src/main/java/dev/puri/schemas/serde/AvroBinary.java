package dev.puri.schemas.serde;

import java.nio.ByteBuffer;

/** Avro's binary encoding of single values, for records that are encoded field by field. */
public final class AvroBinary {
    /** Most bytes of an encoded number. */
    public static final int MAX_NUMBER_LENGTH = 10;

    private AvroBinary() {}

    /** Writes an int, a long, a length, a count, or the branch of a union: zigzag, then seven bits a byte, the lowest first. */
    public static void putNumber(long number, ByteBuffer out) {
        long rest = number << 1 ^ number >> 63;
        while ((rest & ~0x7FL) != 0) {
            out.put((byte) (rest & 0x7F | 0x80));
            rest >>>= 7;
        }
        out.put((byte) rest);
    }

    /** Writes a string. */
    public static void putText(byte[] utf8, ByteBuffer out) {
        putText(utf8, utf8.length, out);
    }

    /**
     * Writes a string.
     *
     * @param length bytes of the string, from the beginning of the array
     */
    public static void putText(byte[] utf8, int length, ByteBuffer out) {
        putNumber(length, out);
        out.put(utf8, 0, length);
    }
}
