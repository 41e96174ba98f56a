package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The registrar's request to the clerk for a handle. The key of the record is the handle.
 *
 * @param puri the pURI of the claiming identity; the clerk uses it as the key of the grant
 * @param eventId id of the event that claims the handle; the grant contains the same id, so the registrar does not
 *     apply the grant to another event
 * @param claimant hash of the claiming identity
 */
record Claim(Puri puri, UUID eventId, IdentityHash claimant) {
    byte[] toBytes() {
        byte[] text = puri.toBytes();
        return ByteBuffer.allocate(32 + TextCodec.size(text))
                .putLong(eventId.getMostSignificantBits())
                .putLong(eventId.getLeastSignificantBits())
                .putLong(claimant.high())
                .putLong(claimant.low())
                .putShort((short) text.length)
                .put(text)
                .array();
    }

    /**
     * @throws IllegalArgumentException if the value was not written by {@link #toBytes}
     */
    static Claim fromBytes(byte @Nullable [] value) {
        return ValueDecoder.decode("a claim", value, Claim::read);
    }

    private static Claim read(ByteBuffer bytes) {
        UUID eventId = new UUID(bytes.getLong(), bytes.getLong());
        IdentityHash claimant = IdentityHash.of(bytes);
        return new Claim(Puri.parse(TextCodec.get(bytes)), eventId, claimant);
    }
}
