package dev.puri.resolver.table;

/** Numbers of variable length as Protocol Buffers and Avro write them: 7 bits a byte, the lowest first. */
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

    /** Returns the offset after the number that begins here. */
    static int end(byte[] in, int at) {
        int p = at;
        while (in[p] < 0) {
            p++;
        }
        return p + 1;
    }

    /** Encodes numbers near zero, negative ones too, as small positive numbers (zigzag). */
    static long zigzag(long value) {
        return value << 1 ^ value >> 63;
    }

    static long unzigzag(long value) {
        return value >>> 1 ^ -(value & 1);
    }
}
