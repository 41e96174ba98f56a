package dev.puri.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Row.Status;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EventFieldsTest {
    private static final Puri PURI = Puri.parse("music:tracks:1");
    private static final Instant TIME = Instant.parse("2026-11-24T12:00:00Z");
    private static final Position POSITION = Position.parse("1-9");
    private static final Handle HANDLE = new Handle("trk_123456789abcdef");
    private static final Handle OTHER_HANDLE = new Handle("trk_123456789abcdeg");
    private static final Puri SURVIVOR = Puri.parse("music:tracks:2");

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);

    /** With short hashes, some of so many wrong rows would agree with the event. */
    @Test
    void noWrongFieldAgreesWithTheEvent() {
        for (int i = 0; i < 20_000; i++) {
            UUID uuid = uuid();
            Row row = row(uuid, "owner-" + i, "shard-" + i, null, Status.ACTIVE, null);
            Change.Created created = new Change.Created(uuid, row.owner(), row.shard(), null, Map.of());
            assertAgrees(created, row, true);
            assertAgrees(created, row(uuid(), "owner-" + i, "shard-" + i, null, Status.ACTIVE, null), false);
            assertAgrees(created, row(uuid, "other-" + i, "shard-" + i, null, Status.ACTIVE, null), false);
            assertAgrees(created, row(uuid, "owner-" + i, "other-" + i, null, Status.ACTIVE, null), false);
            Row merged = row(uuid, "owner-" + i, "shard-" + i, null, Status.MERGED, Puri.parse("music:tracks:" + i));
            assertAgrees(new Change.Merged(Puri.parse("music:tracks:" + i)), merged, true);
            assertAgrees(new Change.Merged(Puri.parse("music:tracks:x" + i)), merged, false);
        }
    }

    @Test
    void anEventDeterminesWhatItChanges() {
        UUID uuid = uuid();
        Row active = row(uuid, "a", "s", HANDLE, Status.ACTIVE, null);
        List<Row> others = new ArrayList<>(List.of(
                row(uuid(), "a", "s", HANDLE, Status.ACTIVE, null),
                row(uuid, "b", "s", HANDLE, Status.ACTIVE, null),
                row(uuid, "a", "t", HANDLE, Status.ACTIVE, null),
                row(uuid, "a", "s", null, Status.ACTIVE, null),
                row(uuid, "a", "s", HANDLE, Status.DELETED, null),
                row(uuid, "a", "s", HANDLE, Status.MERGED, SURVIVOR)));
        Change.Created created = new Change.Created(uuid, new Owner("a"), new Shard("s"), HANDLE, Map.of());
        assertThat(differing(created, true, active)).isEmpty();
        assertThat(others.stream().map(row -> differing(created, true, row)).toList())
                .containsExactly(
                        List.of("uuid"),
                        List.of("owner"),
                        List.of("shard"),
                        List.of("handle"),
                        List.of("status"),
                        List.of("status"));
        assertThat(others.stream().map(row -> differing(created, false, row)).toList())
                .as("it may have added the handle")
                .containsExactly(List.of("uuid"), List.of(), List.of(), List.of("handle"), List.of(), List.of());
        assertThat(others.stream()
                        .map(row -> differing(new Change.Moved(null, new Shard("s")), false, row))
                        .toList())
                .containsExactly(
                        List.of(), List.of(), List.of("shard"), List.of(), List.of("status"), List.of("status"));
        assertThat(others.stream()
                        .map(row -> differing(new Change.Moved(new Owner("a"), new Shard("s")), false, row))
                        .toList())
                .containsExactly(
                        List.of(), List.of("owner"), List.of("shard"), List.of(), List.of("status"), List.of("status"));
    }

    @Test
    void anIdentityCreatedWithoutAHandleHasNone() {
        UUID uuid = uuid();
        Change.Created created = new Change.Created(uuid, new Owner("a"), new Shard("s"), null, Map.of());
        Row row = row(uuid, "a", "s", OTHER_HANDLE, Status.ACTIVE, null);
        assertThat(differing(created, false, row)).containsExactly("handle");
        assertAgrees(created, row, false);
    }

    @Test
    void anEventThatNeverChangesARowAgreesWithNone() {
        Row row = row(uuid(), "a", "s", HANDLE, Status.ACTIVE, null);
        for (Change change : List.of(new Change.Described(Map.of()), new Change.Erased())) {
            assertThat(EventFields.of(event(change), true)).isNull();
            assertAgrees(change, row, false);
        }
    }

    /** Returns the names of the fields in which a row differs, and requires that the hashes agree only if none does. */
    private List<String> differing(Change change, boolean isFirst, Row row) {
        EventFields fields = EventFields.of(event(change), isFirst);
        assertThat(fields).isNotNull();
        List<String> names =
                List.copyOf(Difference.fields(fields.fields(), fields.in(row)).keySet());
        if (!(change instanceof Change.Created) || isFirst) {
            assertAgrees(change, row, names.isEmpty());
        }
        return names;
    }

    private void assertAgrees(Change change, Row row, boolean expected) {
        long[] hashes = EventFields.hashes(row);
        assertThat(EventFields.agree(event(change), i -> hashes[i]))
                .as("seed %d: %s, %s", seed, change, row)
                .isEqualTo(expected);
    }

    private Event event(Change change) {
        return new Event(uuid(), PURI, TIME, "test", null, null, change);
    }

    private UUID uuid() {
        return new UUID(
                random.nextLong() & ~0xF000L | 0x7000L, random.nextLong() & 0x3FFFFFFFFFFFFFFFL | 0x8000000000000000L);
    }

    private static Row row(
            UUID uuid, String owner, String shard, @Nullable Handle handle, Status status, @Nullable Puri mergedInto) {
        return new Row(uuid, new Owner(owner), new Shard(shard), handle, status, 1, TIME, TIME, mergedInto, POSITION);
    }
}
