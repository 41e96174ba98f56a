package dev.puri.client;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A record of {@code puri.collections.v1} that this version cannot read as a declaration. No later record has its key.
 *
 * @param key bytes of the key, read-only; null for a record without a key. Such a record cannot be replaced, but
 *     compaction removes it
 * @param reason why the record cannot be read
 */
public record UnreadableDeclaration(
        String topic, int partition, long offset, @Nullable ByteBuffer key, String reason) {
    private static final int MAX_PRINTED_CHARS = 200;

    public UnreadableDeclaration {
        key = key == null ? null : key.asReadOnlyBuffer();
        reason = printable(reason);
    }

    /** Topic, partition and offset of the record, for people. */
    public String place() {
        return topic + '-' + partition + " at offset " + offset;
    }

    /** The key, for people: text without control characters, or hexadecimal if the key is not UTF-8. */
    public String printableKey() {
        if (key == null) {
            return "no key";
        }
        CharBuffer text = keyText();
        if (text != null) {
            return '"' + printable(text.toString()) + '"';
        }
        StringBuilder hex = new StringBuilder("0x");
        for (int i = key.position(); i < key.limit() && hex.length() < MAX_PRINTED_CHARS; i++) {
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

    /** The key as text; null if there is no key or it is not UTF-8. */
    @Nullable
    String declarationKey() {
        CharBuffer text = keyText();
        return text == null ? null : text.toString();
    }

    private @Nullable CharBuffer keyText() {
        try {
            return key == null ? null : StandardCharsets.UTF_8.newDecoder().decode(key.duplicate());
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    /** Makes text of unknown origin safe for terminals and logs: replaces control characters, and shortens it. */
    private static String printable(String text) {
        String clean = text.replaceAll("[\\p{Cntrl}\\u0080-\\u009f\\u2028\\u2029]+", " ");
        return clean.length() <= MAX_PRINTED_CHARS ? clean : clean.substring(0, MAX_PRINTED_CHARS) + "…";
    }

    @Override
    public String toString() {
        return place() + " (key " + printableKey() + "): " + reason;
    }
}
