package dev.puri.http;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Text of a request line, which the HTTP parser hands on with one character for each byte. */
final class UrlText {
    private UrlText() {}

    /** The text that the bytes are as UTF-8; null when they are not. */
    static @Nullable String of(@Nullable String bytes) {
        if (bytes == null) {
            return "";
        }
        if (bytes.chars().allMatch(c -> c < 0x80)) {
            return bytes;
        }
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
