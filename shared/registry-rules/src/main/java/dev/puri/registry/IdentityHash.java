package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * Identifies an identity without containing its pURI: the first 128 bits of the SHA-256 of its pURI and uuid. The
 * registrar stores this hash for deleted and erased identities, and the clerk stores it for the holders of handles.
 */
record IdentityHash(long high, long low) {
    static final int BYTES = 16;

    static IdentityHash of(Puri puri, UUID uuid) {
        ByteBuffer digest = Sha256.of(
                puri.toBytes(),
                ByteBuffer.allocate(BYTES)
                        .putLong(uuid.getMostSignificantBits())
                        .putLong(uuid.getLeastSignificantBits())
                        .array());
        return new IdentityHash(digest.getLong(), digest.getLong());
    }

    /** Reads a hash that {@link #toBytes} wrote. */
    static IdentityHash of(ByteBuffer bytes) {
        return new IdentityHash(bytes.getLong(), bytes.getLong());
    }

    byte[] toBytes() {
        return ByteBuffer.allocate(BYTES).putLong(high).putLong(low).array();
    }
}
