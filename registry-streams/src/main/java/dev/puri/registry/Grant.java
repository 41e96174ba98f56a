package dev.puri.registry;

import dev.puri.schemas.identity.Handle;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The clerk's answer to a {@link Claim}. The key of the record is the pURI.
 *
 * @param eventId id of the event that claimed the handle
 * @param handle the claimed handle
 * @param isGranted whether the claiming identity holds the handle; otherwise another identity holds it for ever
 */
record Grant(UUID eventId, Handle handle, boolean isGranted) {
    byte[] toBytes() {
        byte[] text = TextCodec.utf8(handle.text());
        return ByteBuffer.allocate(17 + TextCodec.size(text))
                .putLong(eventId.getMostSignificantBits())
                .putLong(eventId.getLeastSignificantBits())
                .put((byte) (isGranted ? 1 : 0))
                .putShort((short) text.length)
                .put(text)
                .array();
    }

    /**
     * @throws IllegalArgumentException if the value was not written by {@link #toBytes}
     */
    static Grant fromBytes(byte @Nullable [] value) {
        return ValueDecoder.decode("a grant", value, Grant::read);
    }

    private static Grant read(ByteBuffer bytes) {
        UUID eventId = new UUID(bytes.getLong(), bytes.getLong());
        boolean isGranted = bytes.get() == 1;
        return new Grant(eventId, new Handle(TextCodec.get(bytes)), isGranted);
    }
}
