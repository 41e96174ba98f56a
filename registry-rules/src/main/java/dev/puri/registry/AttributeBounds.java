package dev.puri.registry;

import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The bounds on the searchable attributes of an identity. */
final class AttributeBounds {
    static final int MAX_ATTRIBUTES = 64;
    static final int MAX_NAME_LENGTH = 64;
    static final int MAX_BYTES = 32 * 1024;

    /** The most bytes of UTF-8 per Java {@code char}; a surrogate pair is two chars and four bytes. */
    private static final int MAX_CHAR_BYTES = 3;

    private AttributeBounds() {}

    /** Returns which bound the change exceeds, or null if none. */
    static @Nullable Refusal objectionTo(Change change) {
        String tooLarge = null;
        if (change instanceof Change.Created created) {
            tooLarge = excessOf(created.attributes());
        } else if (change instanceof Change.Described described) {
            tooLarge = excessOf(described.attributes());
        }
        return tooLarge == null ? null : Refusal.of(Reason.TOO_LARGE, tooLarge);
    }

    private static @Nullable String excessOf(Map<String, String> attributes) {
        if (attributes.size() > MAX_ATTRIBUTES) {
            return "the event has " + attributes.size() + " attributes, at most " + MAX_ATTRIBUTES + " are allowed";
        }
        // Counting the bytes exactly is expensive, and nearly all events are far below the bound.
        long mostBytes = 0;
        for (Map.Entry<String, String> attribute : attributes.entrySet()) {
            String name = attribute.getKey();
            if (name.isEmpty() || name.length() > MAX_NAME_LENGTH) {
                return "an attribute's name has " + name.length() + " characters, 1 to " + MAX_NAME_LENGTH
                        + " are allowed";
            }
            mostBytes += MAX_CHAR_BYTES
                    * ((long) name.length() + attribute.getValue().length());
        }
        if (mostBytes <= MAX_BYTES) {
            return null;
        }
        long bytes = 0;
        for (Map.Entry<String, String> attribute : attributes.entrySet()) {
            bytes += attribute.getKey().getBytes(StandardCharsets.UTF_8).length
                    + attribute.getValue().getBytes(StandardCharsets.UTF_8).length;
        }
        return bytes > MAX_BYTES
                ? "the attributes have " + bytes + " bytes of names and values, at most " + MAX_BYTES + " are allowed"
                : null;
    }
}
