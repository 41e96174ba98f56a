package dev.puri.resolver;

import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decodes a reference in a URL's path. It usually decodes all escapes, so that the response repeats the reference as
 * the client meant it: {@code caf%C3%A9} is {@code café}, and {@code not%20a%20ref} is {@code not a ref}.
 *
 * <p>pURIs use percent-encoding too. So decoding all escapes can turn a pURI into another pURI, or into text that is
 * not a pURI. In these cases only the two escapes below are decoded, because they have another meaning in a URL than in
 * a pURI. The same applies if an escape is malformed or not UTF-8.
 *
 * <ul>
 *   <li>{@code %25} is a percent sign: URL libraries encode the pURI {@code a%2Fb} as {@code a%252Fb}.
 *   <li>{@code %3A} is a separator, unless the path has two plain colons. Then {@code %3A} is a part of a segment and
 *       stays encoded.
 * </ul>
 *
 * Handles contain no characters that a URL must encode.
 *
 * <p>So a client may put a pURI into a URL unchanged, or encoded by a library. Only {@code %25} in a pURI must be
 * encoded, as {@code %2525}, because it would be ambiguous.
 */
final class PathRef {
    private PathRef() {}

    /** Returns the reference in a raw path segment; the reference may be malformed. */
    static String decode(String segment) {
        if (segment.indexOf('%') < 0) {
            return segment;
        }
        boolean hasPlainSeparators = segment.chars().filter(c -> c == ':').count() >= 2;
        StringBuilder ref = new StringBuilder(segment.length());
        for (int i = 0; i < segment.length(); i++) {
            if (segment.startsWith("%25", i)) {
                ref.append('%');
                i += 2;
            } else if (!hasPlainSeparators && segment.regionMatches(true, i, "%3A", 0, 3)) {
                ref.append(':');
                i += 2;
            } else {
                ref.append(segment.charAt(i));
            }
        }
        String partlyDecoded = ref.toString();
        String fullyDecoded = decodeFully(segment);
        return fullyDecoded == null || losesPuri(partlyDecoded, fullyDecoded) ? partlyDecoded : fullyDecoded;
    }

    /** Whether the partly decoded text is a pURI, and the fully decoded text is another pURI or none. */
    private static boolean losesPuri(String partlyDecoded, String fullyDecoded) {
        try {
            return !Objects.equals(Puri.parse(partlyDecoded), parseOrNull(fullyDecoded));
        } catch (InvalidNameException e) {
            return false;
        }
    }

    private static @Nullable Puri parseOrNull(String text) {
        try {
            return Puri.parse(text);
        } catch (InvalidNameException e) {
            return null;
        }
    }

    /** Decodes all escapes; returns null if one is malformed, or they are not UTF-8. */
    private static @Nullable String decodeFully(String segment) {
        byte[] encoded = segment.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(encoded.length);
        for (int i = 0; i < encoded.length; i++) {
            if (encoded[i] != '%') {
                bytes.write(encoded[i]);
                continue;
            }
            int high = i + 2 < encoded.length ? Character.digit(encoded[i + 1], 16) : -1;
            int low = i + 2 < encoded.length ? Character.digit(encoded[i + 2], 16) : -1;
            if (high < 0 || low < 0) {
                return null;
            }
            bytes.write(16 * high + low);
            i += 2;
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes.toByteArray()))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }
}
