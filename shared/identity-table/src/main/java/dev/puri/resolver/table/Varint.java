package dev.puri.resolver.table;

/** The variable-length encoding of numbers that Protocol Buffers and Avro use: 7 bits a byte, lowest bits first. */
final class Varint {
    private Varint() {}

    /** Writes a number and returns the offset after it. */
    static int put(long value, byte[] out, int offset) {
        long remaining = value;
        int next = offset;
        while ((remaining & ~0x7FL) != 0) {
            out[next++] = (byte) (remaining & 0x7F | 0x80);
            remaining >>>= 7;
        }
        out[next++] = (byte) remaining;
        return next;
    }

    /** Returns the number that begins at an offset. */
    static long get(byte[] in, int offset) {
        long value = in[offset] & 0x7F;
        int next = offset;
        for (int shift = 7; in[next] < 0; shift += 7) {
            value |= (in[++next] & 0x7FL) << shift;
        }
        return value;
    }

    /** Returns the offset after the number that begins at an offset. */
    static int end(byte[] in, int offset) {
        int next = offset;
        while (in[next] < 0) {
            next++;
        }
        return next + 1;
    }

    /** Encodes a number near zero, positive or negative, as a small positive number. */
    static long zigzag(long value) {
        return value << 1 ^ value >> 63;
    }

    /** Decodes the result of {@link #zigzag}. */
    static long unzigzag(long value) {
        return value >>> 1 ^ -(value & 1);
    }
}
