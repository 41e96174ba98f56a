package dev.puri.schemas.log;

import java.util.UUID;

/** Parses and checks uuids: they must have RFC 9562's variant and a version from 1 to 8. So nil and max are invalid. */
public final class Uuids {
    private static final int TEXT_LENGTH = 36;
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
        long high = 0;
        long low = 0;
        boolean isValid = text.length() == TEXT_LENGTH;
        for (int i = 0; isValid && i < TEXT_LENGTH; i++) {
            char c = text.charAt(i);
            if (i == 8 || i == 13 || i == 18 || i == 23) {
                isValid = c == '-';
                continue;
            }
            int digit = c >= '0' && c <= '9'
                    ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
            isValid = digit >= 0;
            if (i < 18) {
                high = high << 4 | digit;
            } else {
                low = low << 4 | digit;
            }
        }
        if (!isValid) {
            throw new IllegalArgumentException(field + " is not a uuid of 36 characters as in RFC 9562");
        }
        UUID uuid = new UUID(high, low);
        requireValid(uuid, field);
        return uuid;
    }

    /** Throws an IllegalArgumentException if the variant or the version is invalid. */
    static void requireValid(UUID uuid, String field) {
        if (uuid.variant() != RFC_9562_VARIANT || uuid.version() < 1 || uuid.version() > 8) {
            throw new IllegalArgumentException(
                    field + " " + uuid + " is not a uuid of RFC 9562: its variant or version is invalid");
        }
    }
}
