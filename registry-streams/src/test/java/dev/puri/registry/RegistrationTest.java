package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.collection.Collection;
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
import dev.puri.schemas.log.Row;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.assertj.core.api.ObjectAssert;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The table of the contract, line by line and in its order. */
class RegistrationTest {
    private static final Puri TRACK = Puri.parse("soundcloud:tracks:123");
    private static final Puri OTHER = Puri.parse("soundcloud:tracks:456");
    private static final UUID FIRST = UUID.fromString("01970000-0000-7000-8000-000000000001");
    private static final UUID SECOND = UUID.fromString("01970000-0000-7000-8000-000000000002");
    private static final Handle HANDLE = Handle.parse("trk_4k7vx9tz2nqr8w3");
    private static final Handle OTHER_HANDLE = Handle.parse("trk_111111111111111");
    private static final Owner CATALOG = new Owner("catalog");
    private static final Shard BR = new Shard("br-1");
    private static final Shard US = new Shard("us-1");
    private static final CollectionRules TRACKS = rules(Set.of(), "trk", false);
    private static final Change DELETED = new Change.Deleted();
    private static final Change ERASED = new Change.Erased();
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final Log log = new Log();

    @Nested
    class DeclaredTerms {
        @Test
        void strangerMayNotClaim() {
            log.rules = rules(Set.of(CATALOG), "trk", false);
            refused(log.fold(created(FIRST, "thief", null)), Reason.NOT_ALLOWED);
            applied(log.fold(created(FIRST, "catalog", null)));
        }

        @Test
        void strangerMayNotBeGivenTheObject() {
            log.rules = rules(Set.of(CATALOG), "trk", false);
            log.applied(created(FIRST, "catalog", null));
            refused(log.fold(new Change.Moved(new Owner("thief"), US)), Reason.NOT_ALLOWED);
        }

        @Test
        void retiredCollectionTakesNoIdentities() {
            log.rules = rules(Set.of(), "trk", true);
            refused(log.fold(created(FIRST, "catalog", null)), Reason.NOT_ALLOWED);
        }

        @Test
        void handleNeedsTheCollectionsPrefix() {
            refused(log.fold(created(FIRST, "catalog", Handle.parse("usr_4k7vx9tz2nqr8w3"))), Reason.WRONG_PREFIX);
            log.rules = rules(Set.of(), null, false);
            refused(log.fold(created(FIRST, "catalog", HANDLE)), Reason.WRONG_PREFIX);
        }

        @Test
        void unregisteredCollectionIsUsedWithoutHandles() {
            log.rules = CollectionRules.UNREGISTERED;
            refused(log.fold(created(FIRST, "catalog", HANDLE)), Reason.WRONG_PREFIX);
            applied(log.fold(created(FIRST, "catalog", null)));
        }
    }

    @Nested
    class Retries {
        @Test
        void retriedEventIsUnchanged() {
            Event event = log.event(created(FIRST, "catalog", null));
            log.applied(event);
            unchanged(log.fold(event));
        }

        @Test
        void eightEventsAreRemembered() {
            log.applied(created(FIRST, "catalog", null));
            Event move = log.event(new Change.Moved(null, US));
            log.applied(move);
            for (int i = 0; i < Registration.REMEMBERED_EVENTS - 1; i++) {
                log.applied(new Change.Moved(null, new Shard("s" + i)));
            }
            unchanged(log.fold(move));
            log.applied(new Change.Moved(null, BR));
            applied(log.fold(move));
        }

        @Test
        void retriedErasureIsUnchanged() {
            Event erasure = log.event(ERASED);
            log.applied(erasure);
            unchanged(log.fold(erasure));
        }
    }

    @Nested
    class Erasure {
        @Test
        void appliesToTheUnknown() {
            assertThat(applied(log.fold(ERASED)).row()).isNull();
        }

        @Test
        void passesEveryGuard() {
            log.applied(created(FIRST, "catalog", null));
            assertThat(applied(log.fold(log.guarded(ERASED, SECOND, 99L))).row())
                    .isNull();
        }

        @Test
        void leavesAHashByWhichTheUuidIsRefused() {
            log.applied(created(FIRST, "catalog", null));
            log.applied(ERASED);
            refused(log.fold(created(FIRST, "catalog", null)), Reason.ID_REUSED);
            assertThat(applied(log.fold(created(SECOND, "catalog", null))).row().epoch())
                    .isEqualTo(1);
        }

        @Test
        void ofADeletedIdentityKeepsItsHashOnce() {
            log.applied(created(FIRST, "catalog", null));
            log.applied(DELETED);
            log.applied(ERASED);
            assertThat(log.state.formerHashes()).hasSize(1);
        }
    }

    @Nested
    class Guards {
        @Test
        void nothingButACreationAppliesToTheUnknown() {
            for (Change change : new Change[] {
                new Change.Moved(null, US), new Change.Described(Map.of()), new Change.Merged(OTHER), DELETED
            }) {
                refused(log.fold(change), Reason.UNKNOWN_PURI);
            }
        }

        @Test
        void otherIncarnationIsRefused() {
            log.applied(created(FIRST, "catalog", null));
            refused(log.fold(log.guarded(new Change.Moved(null, US), SECOND, null)), Reason.OTHER_INCARNATION);
            applied(log.fold(log.guarded(new Change.Moved(null, US), FIRST, null)));
        }

        @Test
        void guardOnAnAbsentRowFits() {
            refused(log.fold(log.guarded(created(FIRST, "catalog", null), FIRST, null)), Reason.OTHER_INCARNATION);
            applied(log.fold(log.guarded(created(FIRST, "catalog", null), null, 0L)));
        }

        @Test
        void staleEpochIsRefused() {
            log.applied(created(FIRST, "catalog", null));
            log.applied(new Change.Moved(null, US));
            refused(log.fold(log.guarded(DELETED, null, 1L)), Reason.STALE_EPOCH);
            applied(log.fold(log.guarded(DELETED, null, 2L)));
        }

        @Test
        void incarnationIsCheckedBeforeTheEpoch() {
            log.applied(created(FIRST, "catalog", null));
            refused(log.fold(log.guarded(DELETED, SECOND, 99L)), Reason.OTHER_INCARNATION);
        }
    }

    @Nested
    class Creation {
        @Test
        void firstClaimWins() {
            Row row = applied(log.fold(created(FIRST, "catalog", null))).row();
            assertThat(row)
                    .isEqualTo(
                            new Row(FIRST, CATALOG, BR, null, Row.Status.ACTIVE, 1, NOON, NOON, null, log.position()));
            log.applied(created(FIRST, "catalog", null));

            Refusal refusal = refused(log.fold(created(SECOND, "thief", null)), Reason.PURI_TAKEN);
            assertThat(refusal.holder()).isEqualTo(new Refusal.Holder(CATALOG, BR));
            assertThat(refusal.detail()).contains("catalog").contains("br-1");
        }

        @Test
        void claimsTheHandleFirst() {
            assertThat(log.fold(created(FIRST, "catalog", HANDLE))).isEqualTo(new Decision.Claim(HANDLE));
            assertThat(applied(log.fold(created(FIRST, "catalog", HANDLE), ClerkAnswer.GRANTED))
                            .row()
                            .handle())
                    .isEqualTo(HANDLE);
            refused(log.fold(created(FIRST, "catalog", HANDLE), ClerkAnswer.TAKEN), Reason.HANDLE_TAKEN);
        }

        @Test
        void repeatedCreationWithTheSameUuidIsUnchanged() {
            log.applied(created(FIRST, "catalog", HANDLE), ClerkAnswer.GRANTED);
            unchanged(log.fold(created(FIRST, "catalog", HANDLE)));
            unchanged(log.fold(created(FIRST, "catalog", null)));
        }

        @Test
        void givesAHandleToAnIdentityWithoutOne() {
            log.applied(created(FIRST, "catalog", null));
            assertThat(log.fold(created(FIRST, "catalog", HANDLE))).isEqualTo(new Decision.Claim(HANDLE));
            Row row = applied(log.fold(created(FIRST, "catalog", HANDLE), ClerkAnswer.GRANTED))
                    .row();
            assertThat(row.handle()).isEqualTo(HANDLE);
            assertThat(row.epoch()).as("the ownership did not change").isEqualTo(1);
        }

        @Test
        void handlesDoNotChange() {
            log.applied(created(FIRST, "catalog", HANDLE), ClerkAnswer.GRANTED);
            refused(log.fold(created(FIRST, "catalog", OTHER_HANDLE)), Reason.HANDLE_FIXED);
        }

        @Test
        void deletedUuidDoesNotComeBack() {
            log.applied(created(FIRST, "catalog", null));
            log.applied(DELETED);
            refused(log.fold(created(FIRST, "catalog", null)), Reason.ID_REUSED);
            log.applied(created(SECOND, "catalog", null));
            refused(log.fold(created(FIRST, "catalog", null)), Reason.ID_REUSED);
        }

        @Test
        void epochContinuesAfterADeletion() {
            log.applied(created(FIRST, "catalog", HANDLE), ClerkAnswer.GRANTED);
            log.applied(DELETED);
            Row row = applied(log.fold(created(SECOND, "archive", null))).row();
            assertThat(row.epoch()).isEqualTo(3);
            assertThat(row.handle())
                    .as("the row does not keep the former handle")
                    .isNull();
            assertThat(row.status()).isEqualTo(Row.Status.ACTIVE);
        }

        @Test
        void creationOfAMergedNameIsRefused() {
            log.applied(created(FIRST, "catalog", null));
            log.applied(new Change.Merged(OTHER));
            Refusal refusal = refused(log.fold(created(SECOND, "catalog", null)), Reason.PURI_TAKEN);
            assertThat(refusal.survivor()).isEqualTo(OTHER);
        }

        @Test
        void thousandUuidsAreRemembered() {
            UUID oldest = uuid(0);
            for (int i = 0; i <= Registration.REMEMBERED_UUIDS; i++) {
                log.applied(created(uuid(i), "catalog", null));
                log.applied(DELETED);
            }
            refused(log.fold(created(uuid(1), "catalog", null)), Reason.ID_REUSED);
            applied(log.fold(created(oldest, "catalog", null)));
        }
    }

    @Nested
    class LaterChanges {
        @Test
        void deletedIdentityTakesNoChange() {
            log.applied(created(FIRST, "catalog", null));
            log.applied(DELETED);
            for (Change change :
                    new Change[] {new Change.Moved(null, US), new Change.Described(Map.of()), new Change.Merged(OTHER)
                    }) {
                refused(log.fold(change), Reason.DELETED);
            }
            unchanged(log.fold(DELETED));
        }

        @Test
        void mergedIdentityNamesItsSurvivor() {
            log.applied(created(FIRST, "catalog", null));
            log.applied(new Change.Merged(OTHER));
            for (Change change : new Change[] {new Change.Moved(null, US), new Change.Described(Map.of())}) {
                assertThat(refused(log.fold(change), Reason.MERGED).survivor()).isEqualTo(OTHER);
            }
        }

        @Test
        void mergesOnceAndNotIntoItself() {
            log.applied(created(FIRST, "catalog", null));
            refused(log.fold(new Change.Merged(TRACK)), Reason.SELF_MERGE);
            Row row = applied(log.fold(new Change.Merged(OTHER))).row();
            assertThat(row.status()).isEqualTo(Row.Status.MERGED);
            assertThat(row.epoch()).isEqualTo(2);
            log.applied(new Change.Merged(OTHER));
            refused(log.fold(new Change.Merged(Puri.parse("a:b:c"))), Reason.MERGED);
            refused(log.fold(new Change.Merged(TRACK)), Reason.SELF_MERGE);
            unchanged(log.fold(new Change.Merged(OTHER)));
        }

        @Test
        void movesWhereItIsNotYet() {
            log.applied(created(FIRST, "catalog", null));
            unchanged(log.fold(new Change.Moved(null, BR)));
            unchanged(log.fold(new Change.Moved(CATALOG, BR)));
            Row row = applied(log.fold(new Change.Moved(null, US))).row();
            assertThat(row.shard()).isEqualTo(US);
            assertThat(row.owner()).isEqualTo(CATALOG);
            assertThat(row.epoch()).isEqualTo(2);
            assertThat(applied(log.fold(new Change.Moved(new Owner("archive"), BR)))
                            .row()
                            .owner()
                            .text())
                    .isEqualTo("archive");
        }

        @Test
        void descriptionLeavesTheRowAsItIs() {
            log.applied(created(FIRST, "catalog", null));
            assertThat(applied(log.fold(new Change.Described(Map.of("title", "x"))))
                            .row())
                    .isEqualTo(log.state.row());
        }

        @Test
        void deletionLeavesAMark() {
            log.applied(created(FIRST, "catalog", HANDLE), ClerkAnswer.GRANTED);
            Row row = applied(log.fold(DELETED)).row();
            assertThat(row.status()).isEqualTo(Row.Status.DELETED);
            assertThat(row.epoch()).isEqualTo(2);
            assertThat(row.handle()).isEqualTo(HANDLE);
        }

        @Test
        void mergedIdentityCanBeDeleted() {
            log.applied(created(FIRST, "catalog", null));
            log.applied(new Change.Merged(OTHER));
            Row row = applied(log.fold(DELETED)).row();
            assertThat(row.status()).isEqualTo(Row.Status.DELETED);
            assertThat(row.mergedInto()).isNull();
        }
    }

    private static Registration applied(Decision decision) {
        assertThat(decision).isInstanceOf(Decision.Applied.class);
        return ((Decision.Applied) decision).registration();
    }

    private static void unchanged(Decision decision) {
        assertThat(decision).isEqualTo(Decision.UNCHANGED);
    }

    private static Refusal refused(Decision decision, Reason reason) {
        ObjectAssert<Decision> is = assertThat(decision);
        is.isInstanceOf(Decision.Refused.class);
        Refusal refusal = ((Decision.Refused) decision).refusal();
        assertThat(refusal.reason()).isEqualTo(reason);
        return refusal;
    }

    private static Change created(UUID uuid, String owner, @Nullable Handle handle) {
        return new Change.Created(uuid, new Owner(owner), BR, handle, Map.of());
    }

    private static CollectionRules rules(Set<Owner> owners, @Nullable String prefix, boolean retired) {
        return new CollectionRules(
                null,
                new Collection(
                        "soundcloud",
                        "tracks",
                        prefix == null ? null : new Prefix(prefix),
                        owners,
                        false,
                        false,
                        "",
                        retired));
    }

    private static UUID uuid(int i) {
        return new UUID(0x01970000_0000_7000L, 0x8000_0000_0000_0000L | i);
    }

    /** One pURI and the events that came to it. */
    private static final class Log {
        private Registration state = Registration.NONE;
        private CollectionRules rules = TRACKS;
        private int events;

        Event event(Change change) {
            return guarded(change, null, null);
        }

        Event guarded(Change change, @Nullable UUID uuid, @Nullable Long epoch) {
            return new Event(uuid(1_000_000 + events++), TRACK, NOON, "test", uuid, epoch, change);
        }

        Position position() {
            return new Position("puri.events.v1", 0, 7);
        }

        Decision fold(Change change) {
            return fold(event(change));
        }

        Decision fold(Event event) {
            return Registration.fold(state, event, position(), rules, ClerkAnswer.UNASKED);
        }

        Decision fold(Change change, ClerkAnswer clerk) {
            return Registration.fold(state, event(change), position(), rules, clerk);
        }

        void applied(Change change) {
            applied(event(change));
        }

        void applied(Event event) {
            state = RegistrationTest.applied(fold(event));
        }

        void applied(Change change, ClerkAnswer clerk) {
            state = RegistrationTest.applied(fold(change, clerk));
        }
    }
}
