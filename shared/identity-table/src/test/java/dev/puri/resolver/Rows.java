package dev.puri.resolver;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Rows for tests. */
public final class Rows {
    public static final UUID UUID_7 = UUID.fromString("01970000-0000-7000-8000-000000000001");
    public static final Instant CREATED = Instant.parse("2026-03-01T10:00:00Z");
    public static final Instant CHANGED = Instant.parse("2026-03-02T10:00:00.120Z");
    private static final Position POSITION = new Position("puri.events.v1", 3, 1042);

    private Rows() {}

    public static Row active(String shard) {
        return active(shard, null);
    }

    public static Row active(String shard, @Nullable String handle) {
        return row(shard, handle, Row.Status.ACTIVE, null);
    }

    public static Row deleted(@Nullable String handle) {
        return row("br-1", handle, Row.Status.DELETED, null);
    }

    public static Row mergedInto(String puri) {
        return row("br-1", null, Row.Status.MERGED, Puri.parse(puri));
    }

    private static Row row(String shard, @Nullable String handle, Row.Status status, @Nullable Puri mergedInto) {
        return new Row(
                UUID_7,
                new Owner("catalog"),
                new Shard(shard),
                handle == null ? null : new Handle(handle),
                status,
                3,
                CREATED,
                CHANGED,
                mergedInto,
                POSITION);
    }
}
