package dev.puri.benchmarks;

import dev.puri.schemas.log.Row;
import dev.puri.schemas.serde.WireFormat;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Rows as values of {@code puri.identities.v1}, written by hand, field by field as the schema has them:
 * tens of millions have to be published before anything can be measured. Used by one thread.
 */
final class RowBytes {
    /** More than the longest row takes. */
    private static final int ROOM = 2048;

    private final byte[] out = new byte[ROOM];
    private int at;

    byte[] encode(int schemaId, Row row) {
        UUID uuid = row.uuid();
        ByteBuffer.wrap(out)
                .put((byte) 0)
                .putInt(schemaId)
                .putLong(uuid.getMostSignificantBits())
                .putLong(uuid.getLeastSignificantBits());
        at = WireFormat.HEADER_LENGTH + 16;
        text(row.owner().text());
        text(row.shard().text());
        optional(row.handle() == null ? null : row.handle().text());
        number(
                switch (row.status()) {
                    case ACTIVE -> 0;
                    case MERGED -> 1;
                    case DELETED -> 2;
                });
        number(row.epoch());
        number(row.createdAt().toEpochMilli());
        number(row.changedAt().toEpochMilli());
        optional(row.mergedInto() == null ? null : row.mergedInto().toString());
        text(row.position().topic());
        number(row.position().partition());
        number(row.position().offset());
        return Arrays.copyOf(out, at);
    }

    private void optional(@Nullable String text) {
        number(text == null ? 0 : 1);
        if (text != null) {
            text(text);
        }
    }

    private void text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        number(bytes.length);
        System.arraycopy(bytes, 0, out, at, bytes.length);
        at += bytes.length;
    }

    /** Avro's: zigzag, then 7 bits a byte. */
    private void number(long number) {
        long bits = number << 1 ^ number >> 63;
        while ((bits & ~0x7FL) != 0) {
            out[at++] = (byte) (bits | 0x80);
            bits >>>= 7;
        }
        out[at++] = (byte) bits;
    }
}
