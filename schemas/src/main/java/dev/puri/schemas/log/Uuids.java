package dev.puri.schemas.log;

import java.util.UUID;

/** What the registry takes for a uuid: RFC 9562's variant with a version, so neither nil nor max. */
final class Uuids {
    private static final int RFC_9562 = 2;

    private Uuids() {}

    static void require(UUID uuid, String field) {
        if (uuid.variant() != RFC_9562 || uuid.version() < 1 || uuid.version() > 8) {
            throw new IllegalArgumentException(
                    field + " " + uuid + " is no uuid of RFC 9562: its variant or version bits are not set");
        }
    }
}
