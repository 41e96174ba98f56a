package dev.puri.schemas.serde;

import java.nio.ByteBuffer;

/** Writes single values in Avro's binary encoding, for code that encodes records field by field. */
public final class AvroBinary {
    /** Maximum number of bytes of an encoded number. */
    public static final int MAX_NUMBER_LENGTH = 10;

    private AvroBinary() {}

    /**
     * Writes an int, a long, a length, a count or the branch of a union. The encoding is zigzag, then seven bits per
     * byte, the lowest bits first.
     */
    public static void putNumber(long number, ByteBuffer out) {
        long remainingBits = number << 1 ^ number >> 63;
        while ((remainingBits & ~0x7FL) != 0) {
            out.put((byte) (remainingBits & 0x7F | 0x80));
            remainingBits >>>= 7;
        }
        out.put((byte) remainingBits);
    }

    /** Writes a string. */
    public static void putText(byte[] utf8, ByteBuffer out) {
        putText(utf8, utf8.length, out);
    }

    /**
     * Writes a string.
     *
     * @param utf8 an array that begins with the bytes of the string
     * @param length number of bytes of the string
     */
    public static void putText(byte[] utf8, int length, ByteBuffer out) {
        putNumber(length, out);
        out.put(utf8, 0, length);
    }
}
