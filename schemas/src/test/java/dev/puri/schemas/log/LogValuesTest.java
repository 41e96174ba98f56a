package dev.puri.schemas.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LogValuesTest {
    private static final UUID ID = UUID.fromString("0197f3a4-7c1e-7d2b-9a55-0123456789ab");
    private static final Puri PURI = Puri.parse("a:b:c");
    private static final Position POSITION = new Position(Topics.EVENTS, 0, 0);

    private static Event event(UUID id, Instant at, String source) {
        return new Event(id, PURI, at, source, null, null, new Change.Deleted());
    }

    private static Row row(Row.Status status, long epoch, @Nullable Puri into) {
        return new Row(
                ID, new Owner("o"), new Shard("s"), null, status, epoch, Instant.EPOCH, Instant.EPOCH, into, POSITION);
    }

    private static Document document(Row.Status status, @Nullable Puri into) {
        return new Document(new Owner("o"), new Shard("s"), null, status, into, Map.of("title", "t"), POSITION);
    }

    @Test
    void timesAreBoundedAndKeptToTheMillisecond() {
        assertThat(event(ID, Instant.parse("2026-11-20T12:00:00.123999Z"), "s").occurredAt())
                .isEqualTo(Instant.parse("2026-11-20T12:00:00.123Z"));
        event(ID, Event.EARLIEST, "s");
        event(ID, Event.LATEST.minusNanos(1), "s");
        for (Instant outside : new Instant[] {Event.EARLIEST.minusNanos(1), Event.LATEST, Instant.MIN, Instant.MAX}) {
            assertThatThrownBy(() -> event(ID, outside, "s"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("occurredAt ");
        }
    }

    @Test
    void sourcesAreShortAndPrintable() {
        assertThat(event(ID, Instant.EPOCH, "s".repeat(255)).source()).hasSize(255);
        for (String source : new String[] {"", "s".repeat(256), "a\u0000", "a\u0085"}) {
            assertThatThrownBy(() -> event(ID, Instant.EPOCH, source))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("source ");
        }
    }

    @Test
    void uuidsAreOfRfc9562() {
        for (UUID uuid : new UUID[] {new UUID(0, 0), new UUID(-1, -1), new UUID(ID.getMostSignificantBits(), 1)}) {
            assertThatThrownBy(() -> event(uuid, Instant.EPOCH, "s"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("eventId ");
            assertThatThrownBy(() -> new Change.Created(uuid, new Owner("o"), new Shard("s"), null, Map.of()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("uuid ");
        }
    }

    @Test
    void attributesAreACopy() {
        Map<String, String> attributes = new HashMap<>(Map.of("a", "b"));
        Change.Described described = new Change.Described(attributes);
        attributes.put("c", "d");
        assertThat(described.attributes()).containsExactly(Map.entry("a", "b"));
    }

    @Test
    void onlyAMergedRowHasASurvivor() {
        assertThat(row(Row.Status.MERGED, 1, PURI).mergedInto()).isEqualTo(PURI);
        assertThatThrownBy(() -> row(Row.Status.MERGED, 1, null)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> row(Row.Status.ACTIVE, 1, PURI)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> row(Row.Status.ACTIVE, 0, null)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void deletedIdentitiesHaveNoDocumentAndOnlyMergedOnesHaveASurvivor() {
        assertThat(document(Row.Status.MERGED, PURI).mergedInto()).isEqualTo(PURI);
        assertThatThrownBy(() -> document(Row.Status.DELETED, null)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> document(Row.Status.MERGED, null)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> document(Row.Status.ACTIVE, PURI)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void onlyARefusalHasAReason() {
        assertThat(Outcome.refused(Reason.PURI_TAKEN)).hasToString("refused:PURI_TAKEN");
        assertThatThrownBy(() -> new Outcome(Outcome.Kind.REFUSED, null)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Outcome(Outcome.Kind.APPLIED, Reason.MERGED))
                .isInstanceOf(IllegalArgumentException.class);
        for (String text : new String[] {"", "APPLIED", "refused", "refused:", "refused:NO_SUCH", "refused:merged"}) {
            assertThatThrownBy(() -> Outcome.parse(text)).as(text).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aLongDetailIsCut() {
        assertThat(Refusal.of(Reason.MALFORMED, "x".repeat(1000)).detail()).hasSize(1000);
        assertThat(Refusal.of(Reason.MALFORMED, "x".repeat(5000)).detail())
                .hasSize(1000)
                .endsWith("…");
    }

    @Test
    void aNamespaceWithOtherCharactersOwnsNoTopic() {
        assertThat(Topics.eventsTopicOf("music-1")).isEqualTo("puri.events.v1.music-1");
        assertThat(Topics.eventsTopicOf("music-1", true)).isEqualTo("puri.events.v1.music-1");
        assertThat(Topics.eventsTopicOf("ä", false)).isEqualTo("puri.events.v1");
        for (String namespace : new String[] {"", "a%20b", "a!", "ä", "A", "n".repeat(64)}) {
            assertThatThrownBy(() -> Topics.eventsTopicOf(namespace))
                    .as(namespace)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
