package dev.puri.client;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A record of {@code puri.collections.v1} that this version cannot read as a declaration, and that is the last record of its key.
 *
 * @param key bytes of the key, read-only; null for a record without a key, which nobody can replace and compaction removes
 * @param reason why it cannot be read
 */
public record UnreadableDeclaration(
        String topic, int partition, long offset, @Nullable ByteBuffer key, String reason) {
    private static final int MAX_SHOWN = 200;

    public UnreadableDeclaration {
        key = key == null ? null : key.asReadOnlyBuffer();
        reason = printable(reason);
    }

    /** Its place in the log, for people. */
    public String place() {
        return topic + '-' + partition + " at offset " + offset;
    }

    /** The key for people, without control characters; in hexadecimal if it is no text. */
    public String printableKey() {
        if (key == null) {
            return "no key";
        }
        CharBuffer text = text();
        if (text != null) {
            return '"' + printable(text.toString()) + '"';
        }
        StringBuilder hex = new StringBuilder("0x");
        for (int i = key.position(); i < key.limit() && hex.length() < MAX_SHOWN; i++) {
            hex.append(String.format("%02x", key.get(i)));
        }
        return hex.toString();
    }

    byte @Nullable [] keyBytes() {
        if (key == null) {
            return null;
        }
        byte[] bytes = new byte[key.remaining()];
        key.duplicate().get(bytes);
        return bytes;
    }

    /** The key as text; null if it is no text. */
    @Nullable
    String declarationKey() {
        CharBuffer text = text();
        return text == null ? null : text.toString();
    }

    private @Nullable CharBuffer text() {
        try {
            return key == null ? null : StandardCharsets.UTF_8.newDecoder().decode(key.duplicate());
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    /** Makes text of unknown origin safe for terminals and logs. */
    private static String printable(String text) {
        String clean = text.replaceAll("[\\p{Cntrl}\\u0080-\\u009f\\u2028\\u2029]+", " ");
        return clean.length() <= MAX_SHOWN ? clean : clean.substring(0, MAX_SHOWN) + "…";
    }

    @Override
    public String toString() {
        return place() + " (key " + printableKey() + "): " + reason;
    }
}
