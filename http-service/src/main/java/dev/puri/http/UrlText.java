package dev.puri.http;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Decodes text of a request line, which the HTTP parser returns with one character per byte. */
final class UrlText {
    private UrlText() {}

    /** Decodes the bytes as UTF-8; returns null if they are invalid or contain ASCII control characters. */
    static @Nullable String of(@Nullable String bytes) {
        if (bytes == null) {
            return "";
        }
        boolean ascii = true;
        for (int i = 0; i < bytes.length(); i++) {
            char c = bytes.charAt(i);
            if (c < 0x20 || c == 0x7f) {
                return null;
            }
            ascii &= c < 0x80;
        }
        return ascii ? bytes : decoded(bytes);
    }

    private static @Nullable String decoded(String bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes.getBytes(StandardCharsets.ISO_8859_1)))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }
}
