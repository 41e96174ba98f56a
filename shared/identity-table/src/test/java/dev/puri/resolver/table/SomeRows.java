package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Typical rows. */
final class SomeRows {
    private static final Instant CREATED = Instant.parse("2026-03-01T10:00:00Z");

    private SomeRows() {}

    static Row active(String shard, @Nullable Handle handle) {
        return row(shard, handle, Row.Status.ACTIVE);
    }

    static Row deleted(@Nullable Handle handle) {
        return row("br-1", handle, Row.Status.DELETED);
    }

    private static Row row(String shard, @Nullable Handle handle, Row.Status status) {
        return new Row(
                new UUID(CREATED.toEpochMilli() << 16 | 0x7000, 1),
                new Owner("catalog"),
                new Shard(shard),
                handle,
                status,
                3,
                CREATED.plusMillis(2),
                CREATED.plusSeconds(3600),
                null,
                new Position("puri.events.v1", 3, 1_042_000));
    }
}
