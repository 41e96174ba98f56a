package dev.puri.http;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Text of a request line, which the HTTP parser hands on with one character for each byte. */
final class UrlText {
    private UrlText() {}

    /** The text that the bytes are as UTF-8; null when they are not, or hold control characters of ASCII. */
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
