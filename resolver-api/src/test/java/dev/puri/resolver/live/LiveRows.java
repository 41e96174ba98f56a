package dev.puri.resolver.live;

import dev.puri.projection.AvroValueDecoder;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.RecordWriter;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Rows and names for tests. */
final class LiveRows {
    static final UUID UUID_7 = UUID.fromString("01970000-0000-7000-8000-000000000001");
    static final Instant CREATED = Instant.parse("2026-03-01T10:00:00Z");
    static final Instant CHANGED = Instant.parse("2026-03-02T10:00:00.120Z");

    static final InMemorySchemaRegistry REGISTRY = new InMemorySchemaRegistry();
    static final AvroValueDecoder<IdentityRow> VALUES = new AvroValueDecoder<>(IdentityRow.class, REGISTRY);

    private static final RecordWriter<IdentityRow> WRITER = RecordWriter.of(IdentityRow.class);

    private LiveRows() {}

    /** The row as a record's value. */
    static byte[] bytes(Row row) {
        return WRITER.encode(REGISTRY.register("rows", WRITER.schema()), RowAvro.toAvro(row));
    }

    static Puri track(long number) {
        return Puri.of("music", "tracks", Long.toString(number));
    }

    static Row row(String shard, long event) {
        return row(shard, event, null);
    }

    static Row row(String shard, long event, @Nullable String handle) {
        return new Row(
                UUID_7,
                new Owner("catalog"),
                new Shard(shard),
                handle == null ? null : new Handle(handle),
                Row.Status.ACTIVE,
                3,
                CREATED,
                CHANGED,
                null,
                new Position("puri.events.v1", 3, event));
    }

    static Row mergedInto(String puri) {
        return new Row(
                UUID_7,
                new Owner("catalog"),
                new Shard("br-1"),
                null,
                Row.Status.MERGED,
                4,
                CREATED,
                CHANGED,
                Puri.parse(puri),
                new Position("puri.events.v1", 3, 7));
    }
}
