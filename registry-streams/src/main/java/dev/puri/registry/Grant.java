package dev.puri.registry;

import dev.puri.schemas.identity.Handle;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the clerk answers, keyed by the pURI.
 *
 * @param eventId the event that asked
 * @param handle what it asked for
 * @param isGranted whether the identity has it; otherwise another has, now or ever
 */
record Grant(UUID eventId, Handle handle, boolean isGranted) {
    byte[] toBytes() {
        byte[] text = Texts.utf8(handle.text());
        return ByteBuffer.allocate(17 + Texts.size(text))
                .putLong(eventId.getMostSignificantBits())
                .putLong(eventId.getLeastSignificantBits())
                .put((byte) (isGranted ? 1 : 0))
                .putShort((short) text.length)
                .put(text)
                .array();
    }

    /**
     * @throws IllegalArgumentException when the value is not one that {@link #toBytes} wrote
     */
    static Grant fromBytes(byte @Nullable [] value) {
        return WholeValue.decode("a grant", value, Grant::read);
    }

    private static Grant read(ByteBuffer bytes) {
        UUID eventId = new UUID(bytes.getLong(), bytes.getLong());
        boolean isGranted = bytes.get() == 1;
        return new Grant(eventId, new Handle(Texts.get(bytes)), isGranted);
    }
}
