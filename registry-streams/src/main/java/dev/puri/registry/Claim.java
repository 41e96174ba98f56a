package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The registrar's request to the clerk for a handle. The record's key is the handle.
 *
 * @param puri the identity's pURI, which is the key of the grant
 * @param eventId the event that claims the handle; the grant repeats it, so that it is not taken for that of another
 *     event
 * @param claimant hash of the identity
 */
record Claim(Puri puri, UUID eventId, UuidHash claimant) {
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
     * @throws IllegalArgumentException if {@link #toBytes} did not write the value
     */
    static Claim fromBytes(byte @Nullable [] value) {
        return ValueDecoder.decode("a claim", value, Claim::read);
    }

    private static Claim read(ByteBuffer bytes) {
        UUID eventId = new UUID(bytes.getLong(), bytes.getLong());
        UuidHash claimant = UuidHash.of(bytes);
        return new Claim(Puri.parse(TextCodec.get(bytes)), eventId, claimant);
    }
}
