package dev.puri.schemas.identity;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

/**
 * Converts text to a canonical pURI according to {@code schemas/spec/puri.md}. Text is canonical in most cases; then it
 * is scanned once and not copied ({@link #colonsOfCanonical}). Other text is parsed once and written to a buffer of the
 * maximum length of a pURI.
 *
 * <p>The parser reads one code point at a time: an unescaped character, or the escapes that encode one character in
 * UTF-8. So the parser finds escaped control characters, the bytes of a character are either all escaped or all
 * unescaped, and each error has a position.
 */
final class Canonicalizer {
    private static final byte[] HEX = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);

    /** Maps each ASCII character that is allowed unescaped in a segment to its lower case, other characters to 0. */
    private static final byte[] UNESCAPED = new byte[128];

    static {
        for (char c = 'a'; c <= 'z'; c++) {
            UNESCAPED[c] = (byte) c;
            UNESCAPED[c - 'a' + 'A'] = (byte) c;
        }
        // Digits, RFC 3986's other unreserved characters and sub-delims, and @.
        for (char c : "0123456789-._~!$&'()*+,;=@".toCharArray()) {
            UNESCAPED[c] = (byte) c;
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

    /** Creates a pURI from text in which {@code %} has no special meaning. */
    static Puri ofUnescaped(String namespace, String collection, String identifier) {
        Canonicalizer writer = new Canonicalizer();
        writer.writeUnescaped(namespace, Segment.NAMESPACE);
        int firstColon = writer.writeColon();
        writer.writeUnescaped(collection, Segment.COLLECTION);
        int secondColon = writer.writeColon();
        writer.writeUnescaped(identifier, Segment.IDENTIFIER);
        return writer.toPuri(firstColon, secondColon);
    }

    /** Decodes the escapes of a canonical segment. */
    static String decode(String segment) {
        if (segment.indexOf('%') < 0) {
            return segment;
        }
        // URLDecoder would decode a plus sign as a space.
        return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    /**
     * Returns the indexes of the two colons if the text is canonical and has no escapes, else -1. The upper 32 bits are
     * the index of the first colon.
     */
    private static long colonsOfCanonical(String input) {
        int firstColon = -1;
        int secondColon = -1;
        for (int i = 0; i < input.length(); i++) {
            char c = input.charAt(i);
            if (c < 128 && UNESCAPED[c] == c && c != 0) {
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

    /** Returns the index after the second colon if the bytes are a canonical pURI without escapes, else -1. */
    static int identifierStartOfCanonical(byte[] text, int from, int to) {
        int firstColon = -1;
        int identifierStart = -1;
        for (int i = from; i < to; i++) {
            byte c = text[i];
            if (c > 0 && UNESCAPED[c] == c) {
                continue;
            }
            if (c != ':' || identifierStart >= 0) {
                return -1;
            }
            if (firstColon < 0) {
                firstColon = i;
            } else {
                identifierStart = i + 1;
            }
        }
        boolean fits = identifierStart >= 0
                && Segment.NAMESPACE.fits(firstColon - from)
                && Segment.COLLECTION.fits(identifierStart - firstColon - 2)
                && Segment.IDENTIFIER.fits(to - identifierStart);
        return fits ? identifierStart : -1;
    }

    private static Puri canonicalize(String input) {
        int firstIndex = input.indexOf(':');
        int secondIndex = firstIndex < 0 ? -1 : input.indexOf(':', firstIndex + 1);
        if (secondIndex < 0) {
            throw new InvalidNameException(
                    NameRule.SEGMENT_COUNT,
                    input,
                    -1,
                    "a pURI has three segments, namespace:collection:identifier; this text has "
                            + (firstIndex < 0 ? 1 : 2));
        }
        int thirdIndex = input.indexOf(':', secondIndex + 1);
        if (thirdIndex >= 0) {
            throw new InvalidNameException(
                    NameRule.SEGMENT_COUNT,
                    input,
                    thirdIndex,
                    "a pURI has three segments; write a colon inside a segment as %3A");
        }
        Canonicalizer writer = new Canonicalizer();
        writer.write(input, 0, firstIndex, Segment.NAMESPACE);
        int firstColon = writer.writeColon();
        writer.write(input, firstIndex + 1, secondIndex, Segment.COLLECTION);
        int secondColon = writer.writeColon();
        writer.write(input, secondIndex + 1, input.length(), Segment.IDENTIFIER);
        return writer.toPuri(firstColon, secondColon);
    }

    private Puri toPuri(int firstColon, int secondColon) {
        return new Puri(new String(canonical, 0, length, StandardCharsets.US_ASCII), firstColon, secondColon);
    }

    /** Writes a segment of text that may contain escapes. */
    private void write(String text, int from, int to, Segment nextSegment) {
        begin(nextSegment, text, from, to);
        for (int i = from; i < to; ) {
            char c = text.charAt(i);
            if (c == '%') {
                i = writeEscapes(i, to);
            } else if (c < 128) {
                writeUnescapedAscii(c, i++);
            } else {
                i += writeNonAscii(i);
            }
        }
    }

    /** Writes a segment of text in which {@code %} has no special meaning. */
    private void writeUnescaped(String text, Segment nextSegment) {
        begin(nextSegment, text, 0, text.length());
        for (int i = 0; i < text.length(); ) {
            char c = text.charAt(i);
            if (c < 128) {
                writeAsciiOrEscape(c, i++);
            } else {
                i += writeNonAscii(i);
            }
        }
    }

    private void begin(Segment nextSegment, String text, int from, int to) {
        segment = nextSegment;
        segmentStart = length;
        input = text;
        if (from == to) {
            throw invalid(NameRule.EMPTY_SEGMENT, from, nextSegment.label + " is empty");
        }
    }

    /** Writes an ASCII character that the input contains unescaped; rejects it if it must be escaped. */
    private void writeUnescapedAscii(char c, int at) {
        byte lowerCase = UNESCAPED[c];
        if (lowerCase != 0) {
            put(lowerCase);
        } else if (isControl(c)) {
            throw controlNotAllowed(c, at);
        } else {
            throw invalid(
                    NameRule.RAW_CHARACTER,
                    at,
                    String.format("'%c' is not allowed unescaped; write it as %%%02X", c, (int) c));
        }
    }

    /** Writes an ASCII character, as an escape if it is not allowed unescaped. */
    private void writeAsciiOrEscape(char c, int at) {
        if (UNESCAPED[c] != 0) {
            put(UNESCAPED[c]);
        } else if (isControl(c)) {
            throw controlNotAllowed(c, at);
        } else {
            putEscape(c);
        }
    }

    /** Writes the escapes of an unescaped character beyond ASCII; returns the length of the character in the input. */
    private int writeNonAscii(int at) {
        int codePoint = input.codePointAt(at);
        if (codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE) {
            throw invalid(NameRule.INVALID_UTF8, at, "unpaired surrogate");
        }
        if (isControl(codePoint)) {
            throw controlNotAllowed(codePoint, at);
        }
        for (byte octet : Character.toString(codePoint).getBytes(StandardCharsets.UTF_8)) {
            putEscape(octet & 0xFF);
        }
        return Character.charCount(codePoint);
    }

    /** Writes a character that the input contains as one to four escapes; returns the index after the escapes. */
    private int writeEscapes(int at, int to) {
        int lead = escapedByte(at, to);
        if (lead < 0x80) {
            writeAsciiOrEscape((char) lead, at);
            return at + 3;
        }
        int tailCount = lead >= 0xC2 && lead <= 0xDF ? 1 : lead >= 0xE0 && lead <= 0xEF ? 2 : lead >= 0xF0 ? 3 : 0;
        if (tailCount == 0 || lead > 0xF4) {
            throw notUtf8(at);
        }
        // The limits of the second byte exclude overlong encodings, surrogates and code points above U+10FFFF.
        int lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        int highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        putEscape(lead);
        int next = at + 3;
        for (int i = 0; i < tailCount; i++, next += 3) {
            int tail = next < to && input.charAt(next) == '%' ? escapedByte(next, to) : -1;
            if (tail < lowest || tail > highest) {
                throw notUtf8(at);
            }
            if (lead == 0xC2 && tail < 0xA0) {
                throw controlNotAllowed(tail, at);
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
            throw invalid(
                    NameRule.BAD_ESCAPE, at, "two hexadecimal digits must follow '%'; write a literal '%' as %25");
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
            throw invalid(
                    NameRule.TOO_LONG,
                    -1,
                    segment.label + " has more than " + segment.maxBytes + " bytes in canonical form");
        }
        canonical[length++] = ascii;
    }

    private InvalidNameException notUtf8(int at) {
        return invalid(NameRule.INVALID_UTF8, at, "the percent-encoded bytes from this position are not UTF-8");
    }

    private InvalidNameException controlNotAllowed(int codePoint, int at) {
        return invalid(
                NameRule.CONTROL_CHARACTER,
                at,
                String.format("the control character U+%04X is not allowed, not even escaped", codePoint));
    }

    private InvalidNameException invalid(NameRule rule, int at, String explanation) {
        return new InvalidNameException(rule, input, at, explanation);
    }

    private static boolean isControl(int codePoint) {
        return codePoint < 0x20 || codePoint >= 0x7F && codePoint < 0xA0;
    }

    private static int hex(char c) {
        // Character.digit() would accept digits of all scripts.
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

        boolean fits(int byteCount) {
            return byteCount > 0 && byteCount <= maxBytes;
        }
    }
}
