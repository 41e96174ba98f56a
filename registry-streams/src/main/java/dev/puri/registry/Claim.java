package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the registrar asks the clerk, keyed by the handle: may this identity have it?
 *
 * @param puri where the answer goes
 * @param eventId which event asks, so that an answer to an earlier one is told apart
 * @param claimant who asks
 */
record Claim(Puri puri, UUID eventId, UuidHash claimant) {
    byte[] toBytes() {
        byte[] text = puri.toBytes();
        return ByteBuffer.allocate(32 + Texts.size(text))
                .putLong(eventId.getMostSignificantBits())
                .putLong(eventId.getLeastSignificantBits())
                .putLong(claimant.high())
                .putLong(claimant.low())
                .putShort((short) text.length)
                .put(text)
                .array();
    }

    /**
     * @throws IllegalArgumentException when the value is not one that {@link #toBytes} wrote
     */
    static Claim fromBytes(byte @Nullable [] value) {
        return WholeValue.decode("a claim", value, Claim::read);
    }

    private static Claim read(ByteBuffer bytes) {
        UUID eventId = new UUID(bytes.getLong(), bytes.getLong());
        UuidHash claimant = UuidHash.of(bytes);
        return new Claim(Puri.parse(Texts.get(bytes)), eventId, claimant);
    }
}
