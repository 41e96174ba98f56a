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
 * A reference as it stands in a URL's path. Percent-encoding means the same in a URL and in a pURI, but
 * for two characters, and only these are decoded here; all other escapes are left for the grammar.
 *
 * <ul>
 *   <li>{@code %25} is a percent sign. So what a URL library makes of a pURI ({@code a%252Fb} of {@code
 *       a%2Fb}) is read back as the pURI, once.
 *   <li>{@code %3A} is a colon, and separates, unless two raw colons separate already: then it is one
 *       inside a segment and stays encoded.
 * </ul>
 *
 * Handles have nothing that a URL must encode.
 *
 * <p>Where the other escapes mean nothing to the grammar they are decoded all the same, so that an answer names the
 * reference as it was asked for: {@code caf%C3%A9} is {@code café}, and {@code not%20a%20ref} is {@code not a ref}.
 *
 * <p>So a pURI may be typed into a URL as it is, and any library may encode it first; only a literal
 * percent sign, {@code %25} in the pURI, has to be encoded ({@code %2525}), for as typed it cannot be
 * told from what a library makes of another pURI.
 */
final class PathRef {
    private PathRef() {}

    /** The reference that the raw path segment stands for; well-formed or not. */
    static String decode(String segment) {
        if (segment.indexOf('%') < 0) {
            return segment;
        }
        boolean separated = segment.chars().filter(c -> c == ':').count() >= 2;
        StringBuilder ref = new StringBuilder(segment.length());
        for (int i = 0; i < segment.length(); i++) {
            if (segment.startsWith("%25", i)) {
                ref.append('%');
                i += 2;
            } else if (!separated && segment.regionMatches(true, i, "%3A", 0, 3)) {
                ref.append(':');
                i += 2;
            } else {
                ref.append(segment.charAt(i));
            }
        }
        String typed = ref.toString();
        String decoded = decodedWhole(segment);
        return decoded == null || isAnotherPuri(typed, decoded) ? typed : decoded;
    }

    /** Whether a text is a pURI, and its decoded form is none or another. */
    private static boolean isAnotherPuri(String typed, String decoded) {
        try {
            return !Objects.equals(Puri.parse(typed), parsed(decoded));
        } catch (InvalidNameException e) {
            return false;
        }
    }

    private static @Nullable Puri parsed(String text) {
        try {
            return Puri.parse(text);
        } catch (InvalidNameException e) {
            return null;
        }
    }

    /** All escapes decoded; null when one is malformed, or they are not UTF-8. */
    private static @Nullable String decodedWhole(String segment) {
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
