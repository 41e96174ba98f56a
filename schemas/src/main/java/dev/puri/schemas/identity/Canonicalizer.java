package dev.puri.schemas.identity;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Text to canonical pURI. Two ways lead there: {@link #colonsOfCanonical} passes over the text
 * once and keeps it when it is canonical already, which nearly all are; everything else is decoded
 * to UTF-8 bytes, checked, lowered and encoded again, segment by segment.
 *
 * <p>Decoding comes before checking, so that an escape can smuggle in nothing that raw text may not
 * say; the bytes are checked as UTF-8 over a whole segment, so that an escaped lead byte cannot join
 * a raw tail.
 */
final class Canonicalizer {
    private static final char[] HEX = "0123456789ABCDEF".toCharArray();

    /** Indexed by ASCII code: RFC 3986 unreserved and sub-delims, and {@code @}. */
    private static final boolean[] RAW = new boolean[128];

    static {
        for (char c = 'a'; c <= 'z'; c++) {
            RAW[c] = true;
            RAW[Character.toUpperCase(c)] = true;
        }
        for (char c = '0'; c <= '9'; c++) {
            RAW[c] = true;
        }
        for (char c : "-._~!$&'()*+,;=@".toCharArray()) {
            RAW[c] = true;
        }
    }

    private Canonicalizer() {}

    static Puri parse(String input) {
        long colons = colonsOfCanonical(input);
        return colons < 0 ? canonicalize(input) : new Puri(input, (int) (colons >> 32), (int) colons);
    }

    static Puri ofPlain(String namespace, String collection, String identifier) {
        StringBuilder canonical = new StringBuilder(namespace.length() + collection.length() + identifier.length() + 2);
        Segment.NAMESPACE.append(encodePlain(namespace), namespace, canonical);
        int firstColon = canonical.length();
        canonical.append(':');
        Segment.COLLECTION.append(encodePlain(collection), collection, canonical);
        int secondColon = canonical.length();
        canonical.append(':');
        Segment.IDENTIFIER.append(encodePlain(identifier), identifier, canonical);
        return new Puri(canonical.toString(), firstColon, secondColon);
    }

    /** Decodes canonical text, which is known to be well-formed. */
    static String decode(String segment) {
        return segment.indexOf('%') < 0 ? segment : utf8(decodeEscapes(segment, segment, 0), segment, 0);
    }

    /** Places of the two colons, first in the upper half; -1 when the text is not known to be canonical. */
    private static long colonsOfCanonical(String input) {
        int firstColon = -1;
        int secondColon = -1;
        for (int i = 0; i < input.length(); i++) {
            char c = input.charAt(i);
            if (c >= 128 || (c >= 'A' && c <= 'Z')) {
                return -1;
            }
            if (c == ':') {
                if (firstColon < 0) {
                    firstColon = i;
                } else if (secondColon < 0) {
                    secondColon = i;
                } else {
                    return -1;
                }
            } else if (!RAW[c]) {
                return -1;
            }
        }
        boolean fits = secondColon >= 0
                && Segment.NAMESPACE.fits(firstColon)
                && Segment.COLLECTION.fits(secondColon - firstColon - 1)
                && Segment.IDENTIFIER.fits(input.length() - secondColon - 1);
        return fits ? (long) firstColon << 32 | secondColon : -1;
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
        StringBuilder canonical = new StringBuilder(input.length() + 16);
        Segment.NAMESPACE.append(canonicalSegment(input, 0, first, Segment.NAMESPACE), input, canonical);
        int firstColon = canonical.length();
        canonical.append(':');
        Segment.COLLECTION.append(canonicalSegment(input, first + 1, second, Segment.COLLECTION), input, canonical);
        int secondColon = canonical.length();
        canonical.append(':');
        Segment.IDENTIFIER.append(
                canonicalSegment(input, second + 1, input.length(), Segment.IDENTIFIER), input, canonical);
        return new Puri(canonical.toString(), firstColon, secondColon);
    }

    private static String canonicalSegment(String input, int start, int end, Segment segment) {
        if (start == end) {
            throw new InvalidNameException(NameRule.EMPTY_SEGMENT, input, start, segment.label + " is empty");
        }
        byte[] decoded = decodeEscapes(input.substring(start, end), input, start);
        return encode(utf8(decoded, input, start), input, start);
    }

    private static String encodePlain(String part) {
        return encode(utf8(utf8Bytes(part), part, 0), part, 0);
    }

    /** Escapes to bytes; everything raw is checked to be allowed raw and passed on as UTF-8. */
    private static byte[] decodeEscapes(String segment, String input, int offset) {
        ByteBuffer bytes = ByteBuffer.allocate(segment.length() * 3);
        for (int i = 0; i < segment.length(); ) {
            char c = segment.charAt(i);
            if (c == '%') {
                bytes.put(escapedByte(segment, i, input, offset));
                i += 3;
            } else if (c < 128) {
                if (isControl(c)) {
                    throw control(c, input, offset + i);
                }
                if (!RAW[c]) {
                    throw new InvalidNameException(
                            NameRule.RAW_CHARACTER,
                            input,
                            offset + i,
                            "'" + c + "' may not stand raw, write it as " + escape((byte) c));
                }
                bytes.put((byte) c);
                i++;
            } else {
                int codePoint = segment.codePointAt(i);
                if (codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE) {
                    throw new InvalidNameException(
                            NameRule.INVALID_UTF8, input, offset + i, "half of a surrogate pair stands alone");
                }
                bytes.put(Character.toString(codePoint).getBytes(StandardCharsets.UTF_8));
                i += Character.charCount(codePoint);
            }
        }
        byte[] exact = new byte[bytes.position()];
        bytes.flip().get(exact);
        return exact;
    }

    private static byte escapedByte(String segment, int at, String input, int offset) {
        int high = at + 1 < segment.length() ? hex(segment.charAt(at + 1)) : -1;
        int low = at + 2 < segment.length() ? hex(segment.charAt(at + 2)) : -1;
        if (high < 0 || low < 0) {
            throw new InvalidNameException(
                    NameRule.BAD_ESCAPE,
                    input,
                    offset + at,
                    "two hexadecimal digits must follow '%'; a literal one is %25");
        }
        return (byte) (high << 4 | low);
    }

    private static byte[] utf8Bytes(String part) {
        for (int i = 0; i < part.length(); ) {
            int codePoint = part.codePointAt(i);
            if (codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE) {
                throw new InvalidNameException(NameRule.INVALID_UTF8, part, i, "half of a surrogate pair stands alone");
            }
            i += Character.charCount(codePoint);
        }
        return part.getBytes(StandardCharsets.UTF_8);
    }

    private static String utf8(byte[] bytes, String input, int start) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new InvalidNameException(
                    NameRule.INVALID_UTF8, input, start, "the percent-encoded bytes of this segment are not UTF-8");
        }
    }

    private static String encode(String decoded, String input, int start) {
        StringBuilder encoded = new StringBuilder(decoded.length() + 8);
        for (int i = 0; i < decoded.length(); ) {
            int codePoint = decoded.codePointAt(i);
            if (isControl(codePoint)) {
                throw control(codePoint, input, start);
            }
            if (codePoint < 128 && RAW[codePoint]) {
                encoded.append(Ascii.lower((char) codePoint));
            } else {
                for (byte b : Character.toString(codePoint).getBytes(StandardCharsets.UTF_8)) {
                    encoded.append(escape(b));
                }
            }
            i += Character.charCount(codePoint);
        }
        return encoded.toString();
    }

    private static boolean isControl(int codePoint) {
        return codePoint < 0x20 || codePoint >= 0x7F && codePoint < 0xA0;
    }

    private static InvalidNameException control(int codePoint, String input, int position) {
        return new InvalidNameException(
                NameRule.CONTROL_CHARACTER,
                input,
                position,
                String.format("the control character U+%04X is not allowed, raw or encoded", codePoint));
    }

    private static String escape(byte b) {
        return "%" + HEX[b >> 4 & 0xF] + HEX[b & 0xF];
    }

    private static int hex(char c) {
        // Not Character.digit, which takes the digits of every script.
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

        void append(String canonical, String input, StringBuilder to) {
            if (canonical.isEmpty()) {
                throw new InvalidNameException(NameRule.EMPTY_SEGMENT, input, -1, label + " is empty");
            }
            if (!fits(canonical.length())) {
                throw new InvalidNameException(
                        NameRule.TOO_LONG,
                        input,
                        -1,
                        label + " has " + canonical.length() + " bytes in canonical form, at most " + maxBytes
                                + " are allowed");
            }
            to.append(canonical);
        }
    }
}
