package dev.puri.schemas.identity;

import java.nio.charset.StandardCharsets;

/**
 * Converts text to a canonical pURI according to {@code schemas/spec/puri.md}. Text that is canonical already, which is
 * the normal case, is scanned once and not copied ({@link #colonsOfCanonical}). Other text is parsed once and written
 * to a buffer of the maximum length of a pURI.
 *
 * <p>Parsing is by code points: a raw character is one code point, and each run of escapes that begins with a lead byte
 * of UTF-8 must be one. So an escape cannot introduce a character that is not allowed raw, an escaped lead byte cannot
 * combine with a raw continuation byte, and every error has a position.
 */
final class Canonicalizer {
    private static final byte[] HEX = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);

    /** Maps ASCII characters that are allowed raw in a segment to lower case, and others to 0. */
    private static final byte[] RAW = new byte[128];

    static {
        for (char c = 'a'; c <= 'z'; c++) {
            RAW[c] = (byte) c;
            RAW[c - 'a' + 'A'] = (byte) c;
        }
        // Digits, the rest of RFC 3986's unreserved characters, its sub-delims, and @.
        for (char c : "0123456789-._~!$&'()*+,;=@".toCharArray()) {
            RAW[c] = (byte) c;
        }
    }

    private final byte[] canonical = new byte[Puri.MAX_BYTES];
    private int length;
    private int segmentStart;
    private Segment segment = Segment.NAMESPACE;
    private String input = "";

    private Canonicalizer() {}

    static Puri parse(String input) {
        long colons = colonsOfCanonical(input);
        return colons < 0 ? canonicalize(input) : new Puri(input, (int) (colons >> 32), (int) colons);
    }

    static Puri ofPlain(String namespace, String collection, String identifier) {
        Canonicalizer writer = new Canonicalizer();
        writer.writePlain(namespace, Segment.NAMESPACE);
        int firstColon = writer.writeColon();
        writer.writePlain(collection, Segment.COLLECTION);
        int secondColon = writer.writeColon();
        writer.writePlain(identifier, Segment.IDENTIFIER);
        return writer.toPuri(firstColon, secondColon);
    }

    /** Decodes a segment of canonical, and therefore well-formed, text. */
    static String decode(String segment) {
        if (segment.indexOf('%') < 0) {
            return segment;
        }
        byte[] bytes = new byte[segment.length()];
        int length = 0;
        for (int i = 0; i < segment.length(); i++) {
            char c = segment.charAt(i);
            if (c == '%') {
                bytes[length++] = (byte) (hex(segment.charAt(i + 1)) << 4 | hex(segment.charAt(i + 2)));
                i += 2;
            } else {
                bytes[length++] = (byte) c;
            }
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    /**
     * Returns the indexes of the two colons, the first in the upper 32 bits, if the text is canonical and has no
     * escapes, else -1.
     */
    private static long colonsOfCanonical(String input) {
        int firstColon = -1;
        int secondColon = -1;
        for (int i = 0; i < input.length(); i++) {
            char c = input.charAt(i);
            if (c < 128 && RAW[c] == c && c != 0) {
                continue;
            }
            if (c != ':' || secondColon >= 0) {
                return -1;
            }
            if (firstColon < 0) {
                firstColon = i;
            } else {
                secondColon = i;
            }
        }
        boolean fits = secondColon >= 0
                && Segment.NAMESPACE.fits(firstColon)
                && Segment.COLLECTION.fits(secondColon - firstColon - 1)
                && Segment.IDENTIFIER.fits(input.length() - secondColon - 1);
        return fits ? (long) firstColon << 32 | secondColon : -1;
    }

    /** Like {@link #colonsOfCanonical} for bytes, but returns the index after the second colon, or -1. */
    static int identifierOfPlain(byte[] text, int from, int to) {
        int firstColon = -1;
        int identifier = -1;
        for (int i = from; i < to; i++) {
            byte c = text[i];
            if (c > 0 && RAW[c] == c) {
                continue;
            }
            if (c != ':' || identifier >= 0) {
                return -1;
            }
            if (firstColon < 0) {
                firstColon = i;
            } else {
                identifier = i + 1;
            }
        }
        boolean fits = identifier >= 0
                && Segment.NAMESPACE.fits(firstColon - from)
                && Segment.COLLECTION.fits(identifier - firstColon - 2)
                && Segment.IDENTIFIER.fits(to - identifier);
        return fits ? identifier : -1;
    }

    private static Puri canonicalize(String input) {
        int first = input.indexOf(':');
        int second = first < 0 ? -1 : input.indexOf(':', first + 1);
        if (second < 0) {
            throw new InvalidNameException(
                    NameRule.SEGMENT_COUNT,
                    input,
                    -1,
                    "a pURI has three segments, namespace:collection:identifier, this has " + (first < 0 ? 1 : 2));
        }
        int third = input.indexOf(':', second + 1);
        if (third >= 0) {
            throw new InvalidNameException(
                    NameRule.SEGMENT_COUNT, input, third, "a pURI has three segments; write a colon inside one as %3A");
        }
        Canonicalizer writer = new Canonicalizer();
        writer.write(input, 0, first, Segment.NAMESPACE);
        int firstColon = writer.writeColon();
        writer.write(input, first + 1, second, Segment.COLLECTION);
        int secondColon = writer.writeColon();
        writer.write(input, second + 1, input.length(), Segment.IDENTIFIER);
        return writer.toPuri(firstColon, secondColon);
    }

    private Puri toPuri(int firstColon, int secondColon) {
        return new Puri(new String(canonical, 0, length, StandardCharsets.US_ASCII), firstColon, secondColon);
    }

    private void write(String text, int from, int to, Segment next) {
        begin(next, text, from, to);
        for (int i = from; i < to; ) {
            char c = text.charAt(i);
            if (c == '%') {
                i = writeEscaped(i, to);
            } else if (c < 128) {
                writeRaw(c, i++);
            } else {
                i += writeNonAscii(i);
            }
        }
    }

    private void writePlain(String text, Segment next) {
        begin(next, text, 0, text.length());
        for (int i = 0; i < text.length(); ) {
            char c = text.charAt(i);
            if (c < 128) {
                writeAscii(c, i++);
            } else {
                i += writeNonAscii(i);
            }
        }
    }

    private void begin(Segment next, String text, int from, int to) {
        segment = next;
        segmentStart = length;
        input = text;
        if (from == to) {
            throw fault(NameRule.EMPTY_SEGMENT, from, next.label + " is empty");
        }
    }

    private void writeRaw(char c, int at) {
        byte lowered = RAW[c];
        if (lowered != 0) {
            put(lowered);
        } else if (isControl(c)) {
            throw control(c, at);
        } else {
            throw fault(
                    NameRule.RAW_CHARACTER,
                    at,
                    String.format("'%c' may not stand raw, write it as %%%02X", c, (int) c));
        }
    }

    /** Writes an ASCII character: raw if allowed, else as an escape. */
    private void writeAscii(char c, int at) {
        if (RAW[c] != 0) {
            put(RAW[c]);
        } else if (isControl(c)) {
            throw control(c, at);
        } else {
            putEscape(c);
        }
    }

    /** Writes a raw character beyond ASCII; returns its length in the input. */
    private int writeNonAscii(int at) {
        int codePoint = input.codePointAt(at);
        if (codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE) {
            throw fault(NameRule.INVALID_UTF8, at, "half of a surrogate pair stands alone");
        }
        if (isControl(codePoint)) {
            throw control(codePoint, at);
        }
        if (codePoint < 0x800) {
            putEscape(0xC0 | codePoint >> 6);
        } else {
            if (codePoint < 0x10000) {
                putEscape(0xE0 | codePoint >> 12);
            } else {
                putEscape(0xF0 | codePoint >> 18);
                putEscape(0x80 | codePoint >> 12 & 0x3F);
            }
            putEscape(0x80 | codePoint >> 6 & 0x3F);
        }
        putEscape(0x80 | codePoint & 0x3F);
        return Character.charCount(codePoint);
    }

    /** Writes an escaped code point, of up to four escapes; returns the index after it. */
    private int writeEscaped(int at, int to) {
        int lead = escapedByte(at, to);
        if (lead < 0x80) {
            writeAscii((char) lead, at);
            return at + 3;
        }
        int tails = lead >= 0xC2 && lead <= 0xDF ? 1 : lead >= 0xE0 && lead <= 0xEF ? 2 : lead >= 0xF0 ? 3 : 0;
        if (tails == 0 || lead > 0xF4) {
            throw notUtf8(at);
        }
        // The bounds of the second byte exclude overlong forms, surrogates and code points above U+10FFFF.
        int lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        int highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        putEscape(lead);
        int next = at + 3;
        for (int i = 0; i < tails; i++, next += 3) {
            int tail = next < to && input.charAt(next) == '%' ? escapedByte(next, to) : -1;
            if (tail < lowest || tail > highest) {
                throw notUtf8(at);
            }
            if (lead == 0xC2 && tail < 0xA0) {
                throw control(tail, at);
            }
            putEscape(tail);
            lowest = 0x80;
            highest = 0xBF;
        }
        return next;
    }

    private int escapedByte(int at, int to) {
        int high = at + 1 < to ? hex(input.charAt(at + 1)) : -1;
        int low = at + 2 < to ? hex(input.charAt(at + 2)) : -1;
        if (high < 0 || low < 0) {
            throw fault(NameRule.BAD_ESCAPE, at, "two hexadecimal digits must follow '%'; a literal one is %25");
        }
        return high << 4 | low;
    }

    private int writeColon() {
        canonical[length] = ':';
        return length++;
    }

    private void putEscape(int octet) {
        put((byte) '%');
        put(HEX[octet >> 4]);
        put(HEX[octet & 0xF]);
    }

    private void put(byte ascii) {
        if (length - segmentStart == segment.maxBytes) {
            throw fault(
                    NameRule.TOO_LONG,
                    -1,
                    segment.label + " has more than " + segment.maxBytes + " bytes in canonical form");
        }
        canonical[length++] = ascii;
    }

    private InvalidNameException notUtf8(int at) {
        return fault(NameRule.INVALID_UTF8, at, "the percent-encoded bytes from here are not UTF-8");
    }

    private InvalidNameException control(int codePoint, int at) {
        return fault(
                NameRule.CONTROL_CHARACTER,
                at,
                String.format("the control character U+%04X is not allowed, raw or encoded", codePoint));
    }

    private InvalidNameException fault(NameRule rule, int at, String explanation) {
        return new InvalidNameException(rule, input, at, explanation);
    }

    private static boolean isControl(int codePoint) {
        return codePoint < 0x20 || codePoint >= 0x7F && codePoint < 0xA0;
    }

    private static int hex(char c) {
        // Not Character.digit, which accepts digits of all scripts.
        if (c >= '0' && c <= '9') {
            return c - '0';
        }
        char lower = Ascii.lower(c);
        return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
    }

    private enum Segment {
        NAMESPACE("the namespace", Puri.MAX_NAME_BYTES),
        COLLECTION("the collection", Puri.MAX_NAME_BYTES),
        IDENTIFIER("the identifier", Puri.MAX_IDENTIFIER_BYTES);

        private final String label;
        private final int maxBytes;

        Segment(String label, int maxBytes) {
            this.label = label;
            this.maxBytes = maxBytes;
        }

        boolean fits(int bytes) {
            return bytes > 0 && bytes <= maxBytes;
        }
    }
}
