package dev.puri.http;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Decodes text of a request line, which the HTTP parser returns as Latin-1: one character per byte. */
final class UrlText {
    private UrlText() {}

    /**
     * Decodes the bytes of the text as UTF-8, and keeps percent escapes. Returns an empty text if there is none, and
     * null if the bytes are invalid UTF-8 or contain ASCII control characters.
     */
    static @Nullable String utf8OfLatin1(@Nullable String latin1) {
        if (latin1 == null) {
            return "";
        }
        boolean isAscii = true;
        for (int i = 0; i < latin1.length(); i++) {
            char c = latin1.charAt(i);
            if (c < 0x20 || c == 0x7f) {
                return null;
            }
            isAscii &= c < 0x80;
        }
        return isAscii ? latin1 : decodeUtf8(latin1);
    }

    private static @Nullable String decodeUtf8(String latin1) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(latin1.getBytes(StandardCharsets.ISO_8859_1)))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }
}
