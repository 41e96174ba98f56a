package dev.puri.resolver.table;

import java.nio.charset.StandardCharsets;

/**
 * A compact encoding of a pURI's last segment. Numbers, hexadecimal and uuids are encoded by value if decoding restores
 * the exact text; other texts are kept as they are. Equal texts have equal bytes, so bytes are compared instead of
 * text.
 *
 * <pre>
 * 1 byte   kind in the upper 3 bits, n in the lower 5 (31: n in the next byte)
 * n bytes  TEXT     the characters, which are ASCII
 *          DECIMAL  a number without leading zeros of at most 18 digits, big-endian, no leading zero bytes
 *          HEX      lower-case hexadecimal of even length, two digits a byte
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

    /** A number of 18 digits is always below 2^63. */
    private static final int MOST_DIGITS = 18;

    private static final byte[] DIGITS = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private Identifier() {}

    /** The most bytes that a text of this length takes. */
    static int mostBytes(int length) {
        return length + 2;
    }

    /** Packs text[from..to) and returns the offset after the packed bytes. */
    static int pack(byte[] text, int from, int to, byte[] out, int at) {
        int length = to - from;
        int number = packNumber(text, from, to, out, at);
        if (number >= 0) {
            return number;
        }
        boolean hex = true;
        for (int i = from; i < to && hex; i++) {
            byte c = text[i];
            hex = c >= '0' && c <= '9' || c >= 'a' && c <= 'f';
        }
        if (hex && length % 2 == 0) {
            int p = head(HEX, length / 2, out, at);
            for (int i = from; i < to; i += 2) {
                out[p++] = octet(text, i);
            }
            return p;
        }
        if (length == UUID_LENGTH && isUuid(text, from)) {
            int p = head(UUID, 16, out, at);
            for (int i = 0; i < UUID_LENGTH; i += 2) {
                i += isHyphen(i) ? 1 : 0;
                out[p++] = octet(text, from + i);
            }
            return p;
        }
        int p = head(TEXT, length, out, at);
        System.arraycopy(text, from, out, p, length);
        return p + length;
    }

    /** Packs text[from..to) if it is a number, and returns the offset after the packed bytes; else -1. */
    static int packNumber(byte[] text, int from, int to, byte[] out, int at) {
        int length = to - from;
        if (length == 0 || length > MOST_DIGITS || text[from] == '0' && length > 1) {
            return -1;
        }
        long number = 0;
        // Any character that is no digit makes this negative.
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
        int p = head(DECIMAL, bytes, out, at);
        for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
            out[p++] = (byte) (number >>> shift);
        }
        return p;
    }

    private static int head(int kind, int n, byte[] out, int at) {
        if (n < LONG_FORM) {
            out[at] = (byte) (kind << 5 | n);
            return at + 1;
        }
        out[at] = (byte) (kind << 5 | LONG_FORM);
        out[at + 1] = (byte) n;
        return at + 2;
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

    private static byte octet(byte[] text, int at) {
        return (byte) (digit(text[at]) << 4 | digit(text[at + 1]));
    }

    private static int digit(byte c) {
        return c <= '9' ? c - '0' : c - 'a' + 10;
    }

    /** Returns the offset after the identifier that begins here. */
    static int end(byte[] record, int at) {
        int n = record[at] & 0x1F;
        return n == LONG_FORM ? at + 2 + (record[at + 1] & 0xFF) : at + 1 + n;
    }

    /** Returns the text of the identifier that begins here. */
    static String unpack(byte[] record, int at) {
        byte[] text = new byte[Math.max(UUID_LENGTH, 2 * (end(record, at) - at))];
        return new String(text, 0, unpack(record, at, text, 0), StandardCharsets.ISO_8859_1);
    }

    /** Writes the text of the identifier that begins here; returns the offset after the text. */
    static int unpack(byte[] record, int at, byte[] out, int to) {
        int end = end(record, at);
        int from = (record[at] & 0x1F) == LONG_FORM ? at + 2 : at + 1;
        return switch ((record[at] & 0xFF) >>> 5) {
            case TEXT -> {
                System.arraycopy(record, from, out, to, end - from);
                yield to + end - from;
            }
            case DECIMAL -> putDecimal(number(record, from, end), out, to);
            case HEX -> putHex(record, from, end, false, out, to);
            case UUID -> putHex(record, from, end, true, out, to);
            default -> throw new IllegalStateException("no kind of identifier: " + (record[at] & 0xFF));
        };
    }

    private static int putDecimal(long number, byte[] out, int to) {
        int digits = 1;
        for (long power = 10; digits < MOST_DIGITS && number >= power; power *= 10) {
            digits++;
        }
        long rest = number;
        for (int i = to + digits - 1; i >= to; i--) {
            out[i] = (byte) ('0' + rest % 10);
            rest /= 10;
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
        int p = to;
        for (int i = from; i < end; i++) {
            if (asUuid && isHyphen(p - to)) {
                out[p++] = '-';
            }
            out[p++] = DIGITS[record[i] >>> 4 & 0xF];
            out[p++] = DIGITS[record[i] & 0xF];
        }
        return p;
    }
}
