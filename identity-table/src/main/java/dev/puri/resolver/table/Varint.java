package dev.puri.resolver.table;

/** Numbers in as few bytes as they need, 7 bits a byte, lowest first, as Protocol Buffers and Avro write them. */
final class Varint {
    private Varint() {}

    static int put(long value, byte[] out, int at) {
        long rest = value;
        int p = at;
        while ((rest & ~0x7FL) != 0) {
            out[p++] = (byte) (rest & 0x7F | 0x80);
            rest >>>= 7;
        }
        out[p++] = (byte) rest;
        return p;
    }

    static long get(byte[] in, int at) {
        long value = in[at] & 0x7F;
        int p = at;
        for (int shift = 7; in[p] < 0; shift += 7) {
            value |= (in[++p] & 0x7FL) << shift;
        }
        return value;
    }

    /** Where the number that begins here ends. */
    static int end(byte[] in, int at) {
        int p = at;
        while (in[p] < 0) {
            p++;
        }
        return p + 1;
    }

    /** Makes small negative numbers small positive ones. */
    static long zigzag(long value) {
        return value << 1 ^ value >> 63;
    }

    static long unzigzag(long value) {
        return value >>> 1 ^ -(value & 1);
    }
}
