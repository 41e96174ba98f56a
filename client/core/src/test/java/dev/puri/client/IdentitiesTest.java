package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class IdentitiesTest {
    private static final UUID ANY = UUID.fromString("01970000-0000-7000-8000-000000000001");
    /** Compares as databases do; UUID.compareTo compares signed values. */
    private static final Comparator<NewIdentity> BY_UUID = Comparator.comparing(
                    (NewIdentity identity) -> identity.uuid().getMostSignificantBits(), Long::compareUnsigned)
            .thenComparing(identity -> identity.uuid().getLeastSignificantBits(), Long::compareUnsigned);

    private static Identities tracks(Identifiers identifiers) {
        return new Identities("music", "tracks", new Prefix("trk"), identifiers);
    }

    static Stream<Identifiers> strategies() {
        return Stream.of(
                Identifiers.uuid(),
                Identifiers.sortable(),
                Identifiers.sortable(9, 13, "23456789abcdefghijkmnpqrstu"),
                Identifiers.nanoid(),
                Identifiers.nanoid(30, "-._~!$&'()*+,;=@ab"));
    }

    @ParameterizedTest
    @MethodSource("strategies")
    void aMintedNameIsReadAsItWasMinted(Identifiers identifiers) {
        NewIdentity track = tracks(identifiers).mint();

        assertThat(track.puri().qualifiedCollection()).isEqualTo("music:tracks");
        assertThat(Puri.parse(track.puri().toString())).isEqualTo(track.puri());
        assertThat(track.puri().plainIdentifier())
                .as("nothing is folded or escaped")
                .isEqualTo(track.puri().identifier());
        assertThat(track.handle()).isNotNull();
        assertThat(track.handle().prefix()).isEqualTo(new Prefix("trk"));
    }

    @Test
    void theIdentifierMayBeTheUuid() {
        NewIdentity track = tracks(Identifiers.uuid()).mint();

        assertThat(track.puri().identifier()).isEqualTo(track.uuid().toString());
    }

    @Test
    void aNaturalKeyIsTakenAsItIs() {
        NewIdentity track = tracks(Identifiers.uuid()).mint("AC/DC: T.N.T.");

        assertThat(track.puri()).isEqualTo(Puri.of("music", "tracks", "ac/dc: t.n.t."));
        assertThatThrownBy(() -> tracks(Identifiers.uuid()).mint("")).isInstanceOf(InvalidNameException.class);
    }

    @Test
    void aCollectionThatCannotBeNamedIsRefusedAtOnce() {
        assertThatThrownBy(() -> new Identities("mu sic\n", "tracks", null, Identifiers.uuid()))
                .isInstanceOf(InvalidNameException.class);
    }

    /** Each of eight threads mints increasing identities, by uuid and by name, without duplicates. */
    @Test
    void identitiesRiseInTheOrderOfTheirCreation() throws Exception {
        Identities tracks = tracks(Identifiers.sortable());
        int each = 20_000;
        ExecutorService pool = Executors.newFixedThreadPool(8);
        try {
            Callable<List<NewIdentity>> task =
                    () -> IntStream.range(0, each).mapToObj(i -> tracks.mint()).toList();
            List<NewIdentity> all = new ArrayList<>();
            for (Future<List<NewIdentity>> minted :
                    pool.invokeAll(Collections.nCopies(8, task), 60, TimeUnit.SECONDS)) {
                assertThat(minted.get())
                        .isSortedAccordingTo(Comparator.comparing(NewIdentity::puri))
                        .isSortedAccordingTo(BY_UUID);
                all.addAll(minted.get());
            }
            all.sort(BY_UUID);
            assertThat(all)
                    .as("both ids tell the same order, of all threads")
                    .isSortedAccordingTo(Comparator.comparing(NewIdentity::puri));
            Set<Puri> names = new HashSet<>();
            all.forEach(identity -> names.add(identity.puri()));
            assertThat(names).hasSize(8 * each);
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void sortableIdentifiersRiseEvenWhenTheClockIsSetBackAndWhenAMillisecondIsFull() {
        AtomicInteger call = new AtomicInteger();
        int[] millis = {1000, 1000, 1001, 400, 1001, 999, 1002, 0, 1003};
        // 2^20 random values: steps of 1, from the lower half on. A million in one millisecond do not fit.
        SortableIdentifiers identifiers = new SortableIdentifiers(
                9,
                4,
                "0123456789abcdefghijklmnopqrstuv",
                () -> Instant.ofEpochMilli(millis[Math.min(call.getAndIncrement(), millis.length - 1)]),
                new Random(7));
        String last = "";
        for (int i = 0; i < 1_100_000; i++) {
            String next = identifiers.next(ANY);
            if (next.compareTo(last) <= 0) {
                // Rarely called, because a million assertions would take a second.
                assertThat(next).isGreaterThan(last);
            }
            last = next;
        }
        assertThat(Long.parseLong(last.substring(0, 9), 32))
                .as("the time runs ahead of the clock")
                .isBetween(1004L, 1006L);
    }

    @Test
    void sortableIdentifiersTellNoCount() {
        SortableIdentifiers identifiers = new SortableIdentifiers(
                9, 11, Identifiers.BASE_36, () -> Instant.ofEpochMilli(1_790_000_000_000L), new Random(7));
        Set<Long> steps = new HashSet<>();
        long last = random(identifiers);
        for (int i = 0; i < 100; i++) {
            long next = random(identifiers);
            steps.add(next - last);
            last = next;
        }
        assertThat(steps).hasSize(100);
    }

    private static long random(Identifiers identifiers) {
        String next = identifiers.next(ANY);
        assertThat(next).hasSize(20).startsWith("0" + Long.toString(1_790_000_000_000L, 36));
        return Long.parseLong(next.substring(9), 36);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            value = {
                "9, 11, 0123456789ABCDEF, character 10 is 'A'",
                "9, 11, 0123456789abcdefa, 'a' twice",
                "9, 11, 9876543210, '8' after '9'",
                "7, 11, 0123456789abcdefghijklmnopqrstuvwxyz, does not fit into 7",
                "9, 3, 0123456789abcdefghijklmnopqrstuvwxyz, 3 random characters",
                "9, 13, 0123456789abcdefghijklmnopqrstuvwxyz, 13 random characters",
                "9, 11, 0, at least 2",
            })
    void aSortableIdentifierThatCouldNotKeepItsPromiseIsRefused(
            int timeLength, int randomLength, String alphabet, String reason) {
        assertThatThrownBy(() -> Identifiers.sortable(timeLength, randomLength, alphabet))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(reason);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 256})
    void aNanoidOfNoLengthOrTooLongIsRefused(int length) {
        assertThatThrownBy(() -> Identifiers.nanoid(length, "ab"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1 to 255 characters, not " + length);
    }

    @Test
    void eventsContainOnlyTheGivenValues() {
        IdentityMinter minter = new IdentityMinter();
        Instant now = Instant.parse("2026-03-01T10:00:00Z");
        Events events = new Events(minter, "catalog", () -> now);
        NewIdentity track = tracks(Identifiers.sortable()).mint();
        Owner owner = new Owner("catalog");
        Shard shard = new Shard("br-1");

        Event created = events.created(track, owner, shard)
                .attribute("title", "Blue")
                .ifEpoch(3)
                .attributes(Map.of("artist", "Joni"))
                .build();
        assertThat(created)
                .isEqualTo(new Event(
                        created.eventId(),
                        track.puri(),
                        now,
                        "catalog",
                        null,
                        3L,
                        new Change.Created(
                                track.uuid(),
                                owner,
                                shard,
                                track.handle(),
                                Map.of("title", "Blue", "artist", "Joni"))));

        UUID id = minter.uuid();
        Puri puri = track.puri();
        assertThat(events.moved(puri, shard)
                        .eventId(id)
                        .occurredAt(Instant.EPOCH)
                        .ifUuid(track.uuid())
                        .build())
                .isEqualTo(new Event(
                        id, puri, Instant.EPOCH, "catalog", track.uuid(), null, new Change.Moved(null, shard)));
        assertThat(Stream.of(
                                events.moved(puri, owner, shard),
                                events.described(puri).attribute("title", "Green"),
                                events.merged(puri, Puri.parse("music:tracks:2")),
                                events.deleted(puri),
                                events.erased(puri))
                        .map(draft -> draft.build().change()))
                .containsExactly(
                        new Change.Moved(owner, shard),
                        new Change.Described(Map.of("title", "Green")),
                        new Change.Merged(Puri.parse("music:tracks:2")),
                        new Change.Deleted(),
                        new Change.Erased());
        assertThat(events.deleted(puri).build().eventId())
                .as("each event has an id of its own")
                .isNotEqualTo(events.deleted(puri).build().eventId());
    }
}
