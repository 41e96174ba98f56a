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
 * Decodes a reference in a URL's path. Escapes mean the same in a URL and in a pURI, with two exceptions. Only these
 * are decoded here; the grammar handles other escapes.
 *
 * <ul>
 *   <li>{@code %25} is a percent sign: URL libraries encode the pURI {@code a%2Fb} as {@code a%252Fb}. It is decoded once.
 *   <li>{@code %3A} is a separator, unless the path has two plain colons; then it is part of a segment and stays encoded.
 * </ul>
 *
 * Handles contain no characters that a URL must encode.
 *
 * <p>If the result is no pURI, all escapes are decoded, so that the response names the reference as requested: {@code
 * caf%C3%A9} is {@code café}, and {@code not%20a%20ref} is {@code not a ref}.
 *
 * <p>So a pURI may be in a URL as it is or encoded by a library. Only a literal percent sign, {@code %25} in the pURI,
 * must be encoded ({@code %2525}), because it would be ambiguous.
 */
final class PathRef {
    private PathRef() {}

    /** Returns the reference of a raw path segment, well-formed or not. */
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

    /** Whether a text is a pURI whose decoded form is another pURI or none. */
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

    /** Decodes all escapes; returns null if one is malformed, or they are not UTF-8. */
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
