package dev.puri.cli;

import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.Rejection;
import java.nio.ByteBuffer;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Rejections for tests. */
final class Rejections {
    private Rejections() {}

    /** Returns the rejection of an event whose pURI is taken. */
    static Rejection taken(
            @Nullable String puri, @Nullable String survivor, EventPosition position, Instant rejectedAt) {
        return new Rejection(
                "PURI_TAKEN",
                "held by catalog",
                position,
                rejectedAt,
                puri,
                null,
                null,
                null,
                survivor,
                ByteBuffer.wrap(new byte[32]),
                3L,
                ByteBuffer.wrap(new byte[3]));
    }
}
