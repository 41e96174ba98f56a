package dev.puri.schemas.log;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Parses and checks uuids: they must have RFC 9562's variant and a version from 1 to 8. So nil and max are invalid. */
public final class Uuids {
    private static final int RFC_9562_VARIANT = 2;

    private Uuids() {}

    /**
     * Parses RFC 9562's text of 36 characters, in upper or lower case. Java's parser also accepts texts such as {@code
     * 1-1-1-1-1}.
     *
     * @param field name of the field, for messages
     * @throws IllegalArgumentException if the text is not a valid uuid; the message contains the name of the field
     */
    public static UUID parse(String text, String field) {
        UUID uuid = parse(text);
        if (uuid == null || !uuid.toString().equalsIgnoreCase(text)) {
            throw new IllegalArgumentException(field + " is not a uuid of 36 characters as in RFC 9562");
        }
        requireValid(uuid, field);
        return uuid;
    }

    private static @Nullable UUID parse(String text) {
        try {
            return UUID.fromString(text);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** Throws an IllegalArgumentException if the variant or the version is invalid. */
    static void requireValid(UUID uuid, String field) {
        if (uuid.variant() != RFC_9562_VARIANT || uuid.version() < 1 || uuid.version() > 8) {
            throw new IllegalArgumentException(
                    field + " " + uuid + " is not a uuid of RFC 9562: its variant or version is invalid");
        }
    }
}
