package dev.puri.registry;

import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The bounds on the searchable attributes of an identity. */
public final class AttributeBounds {
    static final int MAX_ATTRIBUTES = 64;
    static final int MAX_NAME_LENGTH = 64;
    static final int MAX_BYTES = 32 * 1024;

    /** The maximum number of UTF-8 bytes of a Java {@code char}. A surrogate pair is two chars and four bytes. */
    private static final int MAX_CHAR_BYTES = 3;

    private AttributeBounds() {}

    /** Returns a refusal that names the exceeded bound, or null if the change is within the bounds. */
    public static @Nullable Refusal objectionTo(Change change) {
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
        // An exact count is expensive, and nearly all events are far below the bound.
        long maxBytes = 0;
        for (Map.Entry<String, String> attribute : attributes.entrySet()) {
            String name = attribute.getKey();
            if (name.isEmpty() || name.length() > MAX_NAME_LENGTH) {
                return "an attribute's name has " + name.length() + " characters, 1 to " + MAX_NAME_LENGTH
                        + " are allowed";
            }
            maxBytes += MAX_CHAR_BYTES
                    * ((long) name.length() + attribute.getValue().length());
        }
        if (maxBytes <= MAX_BYTES) {
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
