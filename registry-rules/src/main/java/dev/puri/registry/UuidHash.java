package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * Tells one identity from all others without saying which it is: 128 bits of SHA-256 over pURI and
 * uuid. It is what stays of an erased identity, and what the clerk remembers a handle's holder by.
 */
record UuidHash(long high, long low) {
    static final int BYTES = 16;

    static UuidHash of(Puri puri, UUID uuid) {
        ByteBuffer digest = Sha256.of(
                puri.toBytes(),
                ByteBuffer.allocate(BYTES)
                        .putLong(uuid.getMostSignificantBits())
                        .putLong(uuid.getLeastSignificantBits())
                        .array());
        return new UuidHash(digest.getLong(), digest.getLong());
    }

    static UuidHash of(ByteBuffer bytes) {
        return new UuidHash(bytes.getLong(), bytes.getLong());
    }

    byte[] toBytes() {
        return ByteBuffer.allocate(BYTES).putLong(high).putLong(low).array();
    }
}
