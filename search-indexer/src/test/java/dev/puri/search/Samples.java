package dev.puri.search;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Rows and documents as the registry writes them. */
final class Samples {
    static final Instant TIME = Instant.parse("2026-03-01T10:00:00.123Z");

    private Samples() {}

    /** Returns a row whose uuid grows with its number. */
    static Row row(int number, String shard, @Nullable String handle, Row.Status status, @Nullable String mergedInto) {
        return new Row(
                new UUID(0x0197_0000_0000_7000L + ((long) number << 16), 0x8000_0000_0000_0000L | number),
                new Owner("catalog"),
                new Shard(shard),
                handle == null ? null : new Handle(handle),
                status,
                1,
                TIME,
                TIME,
                mergedInto == null ? null : Puri.parse(mergedInto),
                position(number));
    }

    static Row active(int number, String shard) {
        return row(number, shard, null, Row.Status.ACTIVE, null);
    }

    /** Returns a document of the event that wrote a row. */
    static Document document(Row row, String title) {
        return document(row, title, row.position());
    }

    /** Returns a document of a later event that did not change the row. */
    static Document document(Row row, String title, Position event) {
        return new Document(
                row.owner(), row.shard(), row.handle(), row.status(), row.mergedInto(), Map.of("title", title), event);
    }

    static Position position(long offset) {
        return new Position(Topics.EVENTS, 0, offset);
    }
}
