package dev.puri.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.cli.verify.Difference.Kind;
import dev.puri.registry.InMemoryRegistrations;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The event of a repair is refused by every registration, and changes none. */
class RepairsTest {
    private static final Puri PURI = Puri.parse("music:tracks:1");
    private static final Instant NOW = Instant.parse("2026-11-24T12:00:00Z");
    private static final UUID UUID_OF_ROW = UUID.fromString("01970000-0000-7000-8000-000000000001");

    private final InMemoryRegistrations registrations = new InMemoryRegistrations();
    private final Repairs repairs = new Repairs();
    private long offset;

    @Test
    void isRefusedWhateverTheRowIs() {
        assertRefused(Reason.UNKNOWN_PURI);
        apply(new Change.Created(UUID_OF_ROW, new Owner("catalog"), new Shard("br-1"), null, Map.of()));
        assertRefused(Reason.OTHER_INCARNATION);
        apply(new Change.Moved(null, new Shard("us-1")));
        assertRefused(Reason.OTHER_INCARNATION);
        apply(new Change.Merged(Puri.parse("music:tracks:2")));
        assertRefused(Reason.OTHER_INCARNATION);
        apply(new Change.Deleted());
        assertRefused(Reason.OTHER_INCARNATION);
        apply(new Change.Erased());
        assertRefused(Reason.UNKNOWN_PURI);
    }

    @Test
    void nothingIsDeletedIfTheRegistrarHasLostRows(@TempDir Path folder) throws Exception {
        assertThat(objection(folder.resolve("few"), 10, 0)).isNull();
        assertThat(objection(folder.resolve("many"), 11, 1_000)).isNull();
        assertThat(objection(folder.resolve("lost"), 101, 1_000))
                .contains("does not know 101 rows of puri.identities.v1-3", "probably lost");
    }

    /** Returns the objection if a partition has rows that the registrar does not know. */
    private static @Nullable String objection(Path path, int unknownRows, long knownRows) throws IOException {
        VerifyFolder folder = new VerifyFolder(path);
        try (OutputStream file = folder.openDifferences(0)) {
            for (int i = 0; i < unknownRows; i++) {
                file.write(VerifyFolder.line(new Difference(
                        Registry.REGISTRAR, Topics.IDENTITIES, 3, "a:b:" + i, null, Kind.EXTRA, Map.of(), null)));
            }
        }
        folder.writeState(new VerifyFolder.State(
                NOW.toString(),
                true,
                0,
                List.of(new VerifyFolder.Completed(
                        "registrar puri.identities.v1-3", knownRows + unknownRows, knownRows, unknownRows, 0, null))));
        return Repairs.objection(folder);
    }

    private void apply(Change change) {
        assertThat(decide(new Event(repairs.event(PURI, NOW).eventId(), PURI, NOW, "test", null, null, change)))
                .isNull();
    }

    private void assertRefused(Reason reason) {
        Row before = registrations.row(PURI);
        Refusal refusal = decide(repairs.event(PURI, NOW));
        assertThat(refusal).isNotNull();
        assertThat(refusal.reason()).isEqualTo(reason);
        assertThat(registrations.row(PURI)).isEqualTo(before);
    }

    private @Nullable Refusal decide(Event event) {
        return registrations.apply(event, new Position(Topics.EVENTS, 0, offset++), Declarations.none());
    }
}
