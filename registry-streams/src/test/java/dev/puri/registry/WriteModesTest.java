package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.collection.WriteMode;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The line of the contract's table for the modes of namespaces and collections. */
class WriteModesTest {
    private static final Puri TRACK = Puri.parse("soundcloud:tracks:123");
    private static final UUID FIRST = UUID.fromString("01970000-0000-7000-8000-000000000001");
    private static final UUID SECOND = UUID.fromString("01970000-0000-7000-8000-000000000002");
    private static final Handle HANDLE = Handle.parse("trk_4k7vx9tz2nqr8w3");
    private static final Shard BR = new Shard("br-1");
    private static final Change DELETED = new Change.Deleted();
    private static final CollectionRules WRITABLE = rules(WriteMode.READ_WRITE, WriteMode.READ_WRITE);
    private static final CollectionRules READ_ONLY = rules(WriteMode.READ_ONLY, WriteMode.READ_WRITE);

    private int events;

    static List<Arguments> modes() {
        WriteMode byTest = WriteMode.importBy("test");
        WriteMode byAnother = WriteMode.importBy("another");
        String importedByAnother =
                " is being imported: until it is opened, it accepts events of the source another," + " not of test";
        return List.of(
                Arguments.of(WriteMode.READ_WRITE, WriteMode.READ_WRITE, null),
                Arguments.of(WriteMode.READ_WRITE, byTest, null),
                Arguments.of(byTest, WriteMode.READ_WRITE, null),
                Arguments.of(byTest, byTest, null),
                Arguments.of(WriteMode.READ_ONLY, WriteMode.READ_WRITE, "the namespace soundcloud is read-only"),
                Arguments.of(WriteMode.READ_ONLY, byTest, "the namespace soundcloud is read-only"),
                Arguments.of(byTest, WriteMode.READ_ONLY, "the collection soundcloud:tracks is read-only"),
                Arguments.of(byAnother, WriteMode.READ_WRITE, "the namespace soundcloud" + importedByAnother),
                Arguments.of(byTest, byAnother, "the collection soundcloud:tracks" + importedByAnother),
                Arguments.of(
                        WriteMode.READ_WRITE,
                        new WriteMode("FROZEN", null),
                        "the collection soundcloud:tracks has the mode FROZEN, which this version of the registry does"
                                + " not know and treats as READ_ONLY"));
    }

    /** @param detail of the refusal; null if events of the source test are accepted */
    @ParameterizedTest
    @MethodSource("modes")
    void bothModesMustAcceptTheSource(WriteMode ofNamespace, WriteMode ofCollection, @Nullable String detail) {
        CollectionRules rules = rules(ofNamespace, ofCollection);
        Registration active = applied(fold(Registration.NONE, event(created(FIRST, null)), WRITABLE));
        assertRefused(fold(Registration.NONE, event(created(FIRST, null)), rules), detail);
        assertRefused(fold(Registration.NONE, event(created(FIRST, HANDLE)), rules), detail);
        for (Change change : List.of(
                created(FIRST, HANDLE),
                new Change.Moved(null, new Shard("us-1")),
                new Change.Described(Map.of("title", "t")),
                new Change.Merged(Puri.parse("soundcloud:tracks:456")),
                DELETED)) {
            assertRefused(fold(active, event(change), rules), detail);
        }
        applied(fold(active, event(new Change.Erased()), rules));
        applied(fold(Registration.NONE, event(new Change.Erased()), rules));
    }

    @Test
    void theOutcomeDoesNotDependOnTheClerk() {
        Event event = event(created(FIRST, HANDLE));
        for (ClerkAnswer answer : ClerkAnswer.values()) {
            Decision decision = Registration.fold(Registration.NONE, event, position(), READ_ONLY, answer);
            assertRefused(decision, "the namespace soundcloud is read-only");
        }
    }

    @Test
    void eventsThatChangeNothingAreUnchanged() {
        Event creation = event(created(FIRST, null));
        Registration active = applied(fold(Registration.NONE, creation, WRITABLE));
        for (Event event : List.of(creation, event(created(FIRST, null)), event(new Change.Moved(null, BR)))) {
            assertThat(fold(active, event, READ_ONLY)).isInstanceOf(Decision.Unchanged.class);
        }
        Registration deleted = applied(fold(active, event(DELETED), WRITABLE));
        assertThat(fold(deleted, event(DELETED), READ_ONLY)).isInstanceOf(Decision.Unchanged.class);
    }

    @Test
    void otherRefusalsKeepTheirReason() {
        Registration active = applied(fold(Registration.NONE, event(created(FIRST, null)), WRITABLE));
        assertThat(refusal(fold(active, event(created(SECOND, null)), READ_ONLY))
                        .reason())
                .isEqualTo(Reason.PURI_TAKEN);
        assertThat(refusal(fold(active, guarded(DELETED, 7L), READ_ONLY)).reason())
                .isEqualTo(Reason.STALE_EPOCH);
        assertThat(refusal(fold(Registration.NONE, event(DELETED), READ_ONLY)).reason())
                .isEqualTo(Reason.UNKNOWN_PURI);
        Handle ofAnotherCollection = Handle.parse("usr_4k7vx9tz2nqr8w3");
        assertThat(refusal(fold(active, event(created(FIRST, ofAnotherCollection)), READ_ONLY))
                        .reason())
                .isEqualTo(Reason.WRONG_PREFIX);
    }

    private static CollectionRules rules(WriteMode ofNamespace, WriteMode ofCollection) {
        return new CollectionRules(
                new Namespace("soundcloud", false, ofNamespace),
                new Collection(
                        "soundcloud",
                        "tracks",
                        new Prefix("trk"),
                        Set.of(),
                        false,
                        SearchedAttributes.DEFAULT,
                        false,
                        "",
                        false,
                        ofCollection));
    }

    private static Change created(UUID uuid, @Nullable Handle handle) {
        return new Change.Created(uuid, new Owner("catalog"), BR, handle, Map.of());
    }

    private Event event(Change change) {
        return guarded(change, null);
    }

    private Event guarded(Change change, @Nullable Long epoch) {
        UUID eventId = new UUID(0x0198_0000_0000_7000L, 0x8000_0000_0000_0000L | events++);
        return new Event(eventId, TRACK, Instant.parse("2026-01-01T12:00:00Z"), "test", null, epoch, change);
    }

    private static Position position() {
        return new Position("puri.events.v1", 0, 7);
    }

    private static Decision fold(Registration before, Event event, CollectionRules rules) {
        return Registration.fold(before, event, position(), rules, ClerkAnswer.UNASKED);
    }

    private static Registration applied(Decision decision) {
        assertThat(decision).isInstanceOf(Decision.Applied.class);
        return ((Decision.Applied) decision).registration();
    }

    private static Refusal refusal(Decision decision) {
        assertThat(decision).isInstanceOf(Decision.Refused.class);
        return ((Decision.Refused) decision).refusal();
    }

    /** @param detail of the refusal NOT_WRITABLE; null if the event must not be refused */
    private static void assertRefused(Decision decision, @Nullable String detail) {
        if (detail == null) {
            assertThat(decision).isNotInstanceOf(Decision.Refused.class);
        } else {
            assertThat(refusal(decision)).isEqualTo(Refusal.of(Reason.NOT_WRITABLE, detail));
        }
    }
}
