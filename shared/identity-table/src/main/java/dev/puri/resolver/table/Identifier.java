package dev.puri.resolver.table;

import java.nio.charset.StandardCharsets;

/**
 * A compact encoding of the identifier, which is the last segment of a pURI. Decimal numbers, hexadecimal digits and
 * uuids are encoded by value if decoding restores the exact text. Any other text is stored unchanged. Equal identifiers
 * have equal encodings, so two identifiers can be compared without decoding.
 *
 * <pre>
 * 1 byte   kind in the upper 3 bits; n, the number of bytes that follow, in the lower 5 bits. If these 5 bits are 31, n
 *          is in the next byte
 * n bytes  TEXT     the characters, which are ASCII
 *          DECIMAL  a number of at most 18 digits without leading zeros, big-endian without leading zero bytes
 *          HEX      an even number of lower-case hexadecimal digits, two digits a byte
 *          UUID     lower-case 8-4-4-4-12 hexadecimal, 16 bytes
 * </pre>
 */
final class Identifier {
    private static final int TEXT = 0;
    private static final int DECIMAL = 1;
    private static final int HEX = 2;
    private static final int UUID = 3;
    private static final int LONG_FORM = 31;
    private static final int UUID_LENGTH = 36;

    /** Any number of 18 digits fits into a long. */
    private static final int MAX_DIGITS = 18;

    private static final byte[] DIGITS = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private Identifier() {}

    /** Returns the maximum number of bytes of an encoded identifier whose text has this length. */
    static int maxBytes(int length) {
        return length + 2;
    }

    /** Encodes text[from..to) to {@code out} and returns the offset after the encoded bytes. */
    static int pack(byte[] text, int from, int to, byte[] out, int offset) {
        int length = to - from;
        int end = packNumber(text, from, to, out, offset);
        if (end >= 0) {
            return end;
        }
        boolean hex = true;
        for (int i = from; i < to && hex; i++) {
            byte c = text[i];
            hex = c >= '0' && c <= '9' || c >= 'a' && c <= 'f';
        }
        if (hex && length % 2 == 0) {
            int next = putHead(HEX, length / 2, out, offset);
            for (int i = from; i < to; i += 2) {
                out[next++] = hexByte(text, i);
            }
            return next;
        }
        if (length == UUID_LENGTH && isUuid(text, from)) {
            int next = putHead(UUID, 16, out, offset);
            for (int i = 0; i < UUID_LENGTH; i += 2) {
                i += isHyphen(i) ? 1 : 0;
                out[next++] = hexByte(text, from + i);
            }
            return next;
        }
        int next = putHead(TEXT, length, out, offset);
        System.arraycopy(text, from, out, next, length);
        return next + length;
    }

    /** Encodes text[from..to) if it is a DECIMAL, and returns the offset after the encoded bytes. Otherwise -1. */
    static int packNumber(byte[] text, int from, int to, byte[] out, int offset) {
        int length = to - from;
        if (length == 0 || length > MAX_DIGITS || text[from] == '0' && length > 1) {
            return -1;
        }
        long number = 0;
        // Becomes negative if any character is not a digit.
        int signs = 0;
        for (int i = from; i < to; i++) {
            int digit = text[i] - '0';
            signs |= digit | 9 - digit;
            number = 10 * number + digit;
        }
        if (signs < 0) {
            return -1;
        }
        int bytes = (64 - Long.numberOfLeadingZeros(number) + 7) / 8;
        int next = putHead(DECIMAL, bytes, out, offset);
        for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
            out[next++] = (byte) (number >>> shift);
        }
        return next;
    }

    private static int putHead(int kind, int n, byte[] out, int offset) {
        if (n < LONG_FORM) {
            out[offset] = (byte) (kind << 5 | n);
            return offset + 1;
        }
        out[offset] = (byte) (kind << 5 | LONG_FORM);
        out[offset + 1] = (byte) n;
        return offset + 2;
    }

    private static boolean isHyphen(int i) {
        return i == 8 || i == 13 || i == 18 || i == 23;
    }

    private static boolean isUuid(byte[] text, int from) {
        for (int i = 0; i < UUID_LENGTH; i++) {
            byte c = text[from + i];
            if (isHyphen(i) ? c != '-' : !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f')) {
                return false;
            }
        }
        return true;
    }

    private static byte hexByte(byte[] text, int offset) {
        return (byte) (digit(text[offset]) << 4 | digit(text[offset + 1]));
    }

    private static int digit(byte c) {
        return c <= '9' ? c - '0' : c - 'a' + 10;
    }

    /** Returns the offset after the encoded identifier that begins at an offset. */
    static int end(byte[] record, int offset) {
        int n = record[offset] & 0x1F;
        return n == LONG_FORM ? offset + 2 + (record[offset + 1] & 0xFF) : offset + 1 + n;
    }

    /** Returns whether the encoded identifier that begins at an offset can be decoded. */
    static boolean isOfKnownKind(byte[] record, int offset) {
        return (record[offset] & 0xFF) >>> 5 <= UUID;
    }

    /** Decodes the identifier that begins at an offset. */
    static String unpack(byte[] record, int offset) {
        byte[] text = new byte[Math.max(UUID_LENGTH, 2 * (end(record, offset) - offset))];
        return new String(text, 0, unpack(record, offset, text, 0), StandardCharsets.ISO_8859_1);
    }

    /** Decodes the identifier that begins at an offset to {@code out[to..]}. Returns the offset after the text. */
    static int unpack(byte[] record, int offset, byte[] out, int to) {
        int end = end(record, offset);
        int from = (record[offset] & 0x1F) == LONG_FORM ? offset + 2 : offset + 1;
        return switch ((record[offset] & 0xFF) >>> 5) {
            case TEXT -> {
                System.arraycopy(record, from, out, to, end - from);
                yield to + end - from;
            }
            case DECIMAL -> putDecimal(number(record, from, end), out, to);
            case HEX -> putHex(record, from, end, false, out, to);
            case UUID -> putHex(record, from, end, true, out, to);
            default -> throw new IllegalStateException("unknown kind of identifier: " + (record[offset] & 0xFF));
        };
    }

    private static int putDecimal(long number, byte[] out, int to) {
        int digits = 1;
        for (long power = 10; digits < MAX_DIGITS && number >= power; power *= 10) {
            digits++;
        }
        long remaining = number;
        for (int i = to + digits - 1; i >= to; i--) {
            out[i] = (byte) ('0' + remaining % 10);
            remaining /= 10;
        }
        return to + digits;
    }

    private static long number(byte[] record, int from, int end) {
        long number = 0;
        for (int i = from; i < end; i++) {
            number = number << 8 | record[i] & 0xFF;
        }
        return number;
    }

    private static int putHex(byte[] record, int from, int end, boolean asUuid, byte[] out, int to) {
        int next = to;
        for (int i = from; i < end; i++) {
            if (asUuid && isHyphen(next - to)) {
                out[next++] = '-';
            }
            out[next++] = DIGITS[record[i] >>> 4 & 0xF];
            out[next++] = DIGITS[record[i] & 0xF];
        }
        return next;
    }
}
