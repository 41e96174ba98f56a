package dev.puri.schemas.log;

import java.util.UUID;

/** Parses and checks uuids: RFC 9562's text, variant and version; not nil or max. */
public final class Uuids {
    private static final int LENGTH = 36;
    private static final int RFC_9562 = 2;

    private Uuids() {}

    /**
     * Parses the 36 characters of RFC 9562, in either case. Java's parser also accepts {@code 1-1-1-1-1}, so that
     * different texts would be the same uuid.
     *
     * @param field the field's name, for messages
     * @throws IllegalArgumentException if the text is not such a uuid; the message names the field
     */
    public static UUID parse(String text, String field) {
        long high = 0;
        long low = 0;
        boolean fits = text.length() == LENGTH;
        for (int i = 0; fits && i < LENGTH; i++) {
            char c = text.charAt(i);
            if (i == 8 || i == 13 || i == 18 || i == 23) {
                fits = c == '-';
                continue;
            }
            int digit = c >= '0' && c <= '9'
                    ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
            fits = digit >= 0;
            if (i < 18) {
                high = high << 4 | digit;
            } else {
                low = low << 4 | digit;
            }
        }
        if (!fits) {
            throw new IllegalArgumentException(field + " is no uuid of 36 characters, as RFC 9562 writes it");
        }
        UUID uuid = new UUID(high, low);
        require(uuid, field);
        return uuid;
    }

    static void require(UUID uuid, String field) {
        if (uuid.variant() != RFC_9562 || uuid.version() < 1 || uuid.version() > 8) {
            throw new IllegalArgumentException(
                    field + " " + uuid + " is no uuid of RFC 9562: its variant or version bits are not set");
        }
    }
}
