package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.client.IdentityMinter;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EventLineParserTest {
    private static final Instant NOW = Instant.parse("2026-11-20T09:30:00Z");
    private static final UUID ID = UUID.fromString("0197c3a2-5b1e-7c4d-8e9f-0a1b2c3d4e5f");
    private static final String CREATED = "\"type\":\"created\",\"puri\":\"soundcloud:tracks:1\"";
    private static final Declarations TRACKS = Declarations.of(
            List.of(new Collection("soundcloud", "tracks", new Prefix("trk"), Set.of(), false, false, "", false)));

    @Test
    void parsesEveryFieldOfACreation() {
        Event event = event("{" + CREATED + ",\"owner\":\"catalog\",\"shard\":\"br-1\",\"uuid\":\"" + ID
                + "\",\"handle\":\"trk_4k7vx9tz2nqr8w3\",\"attributes\":{\"title\":\"Água\"},\"expectedEpoch\":4,"
                + "\"eventId\":\"0197c3a2-5b1e-7c4d-8e9f-0a1b2c3d4e60\",\"source\":\"import\","
                + "\"occurredAt\":\"2026-11-20T10:30:00.5+02:00\"}");
        assertThat(event)
                .isEqualTo(new Event(
                        UUID.fromString("0197c3a2-5b1e-7c4d-8e9f-0a1b2c3d4e60"),
                        Puri.parse("soundcloud:tracks:1"),
                        Instant.parse("2026-11-20T08:30:00.500Z"),
                        "import",
                        null,
                        4L,
                        new Change.Created(
                                ID,
                                new Owner("catalog"),
                                new Shard("br-1"),
                                new Handle("trk_4k7vx9tz2nqr8w3"),
                                Map.of("title", "Água"))));
    }

    @Test
    void omittedFieldsAreFilledIn() {
        Event event = event("{" + CREATED + ",\"owner\":\"catalog\",\"shard\":\"br-1\"}");
        assertThat(event.eventId().version()).isEqualTo(7);
        assertThat(event.occurredAt()).isEqualTo(NOW);
        assertThat(event.source()).isEqualTo("puri-cli");
        assertThat(event.change()).isInstanceOfSatisfying(Change.Created.class, created -> {
            assertThat(created.uuid().version()).isEqualTo(7);
            assertThat(created.handle()).asString().startsWith("trk_");
        });
    }

    @Test
    void noHandleIsMintedForAnUndeclaredCollectionOrNull() {
        String elsewhere = "{\"type\":\"created\",\"puri\":\"a:b:c\",\"owner\":\"o\",\"shard\":\"s\"}";
        String none = "{" + CREATED + ",\"owner\":\"o\",\"shard\":\"s\",\"handle\":null}";
        for (String line : List.of(elsewhere, none)) {
            assertThat(event(line).change())
                    .isInstanceOfSatisfying(
                            Change.Created.class,
                            created -> assertThat(created.handle()).isNull());
        }
    }

    @Test
    void uuidIsTheGuardOfOtherTypesThanCreations() {
        Event event = event("{\"type\":\"deleted\",\"puri\":\"a:b:c\",\"uuid\":\"" + ID + "\"}");
        assertThat(event.uuid()).isEqualTo(ID);
        assertThat(event.change()).isEqualTo(new Change.Deleted());
    }

    @Test
    void parsesEveryOtherType() {
        assertThat(event("{\"type\":\"moved\",\"puri\":\"a:b:c\",\"shard\":\"s\"}")
                        .change())
                .isEqualTo(new Change.Moved(null, new Shard("s")));
        assertThat(event("{\"type\":\"moved\",\"puri\":\"a:b:c\",\"shard\":\"s\",\"owner\":\"o\"}")
                        .change())
                .isEqualTo(new Change.Moved(new Owner("o"), new Shard("s")));
        assertThat(event("{\"type\":\"described\",\"puri\":\"a:b:c\",\"attributes\":{}}")
                        .change())
                .isEqualTo(new Change.Described(Map.of()));
        assertThat(event("{\"type\":\"merged\",\"puri\":\"a:b:c\",\"into\":\"A:B:D\"}")
                        .change())
                .isEqualTo(new Change.Merged(Puri.parse("a:b:d")));
        assertThat(event("{\"type\":\"erased\",\"puri\":\"a:b:c\"}").change()).isEqualTo(new Change.Erased());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"type\":\"deleted\",\"puri\":\"a b\"} | puri: \"a b\": a pURI has three segments",
                "{\"type\":\"deleted\"} | puri: missing",
                "{\"puri\":\"a:b:c\"} | type: missing",
                "{\"type\":\"remove\",\"puri\":\"a:b:c\"} | type: \"remove\" is none of created, moved,",
                "{\"type\":\"deleted\",\"puri\":\"a:b:c\",\"shrd\":1} | shrd: no such field in a deleted event; its fields are type,",
                "{\"type\":\"deleted\",\"puri\":\"a:b:c\",\"puri\":\"a:b:d\"} | puri: given twice",
                "{\"type\":\"deleted\",\"puri\":7} | puri: a text is expected, not the number 7",
                "{\"type\":\"deleted\",\"puri\":[\"a:b:c\"]} | puri: a text is expected, not a list",
                "{\"type\":\"deleted\",\"puri\":\"a:b:c\",\"expectedEpoch\":\"1\"} | expectedEpoch: a whole number is expected, not a text",
                "{\"type\":\"deleted\",\"puri\":\"a:b:c\",\"expectedEpoch\":1.5} | expectedEpoch: a whole number is expected, not a fraction",
                "{\"type\":\"deleted\",\"puri\":\"a:b:c\",\"expectedEpoch\":99999999999999999999} | expectedEpoch: a whole number is expected, not a number of more than 64 bits",
                "{\"type\":\"deleted\",\"puri\":\"a:b:c\",\"uuid\":\"1-1-1-1-1\"} | uuid: \"1-1-1-1-1\" is not a uuid such as",
                "{\"type\":\"deleted\",\"puri\":\"a:b:c\",\"occurredAt\":\"yesterday\"} | occurredAt: \"yesterday\" is not a time with an offset",
                "{\"type\":\"deleted\",\"puri\":\"a:b:c\",\"occurredAt\":\"2026-11-20T09:30:00\"} | occurredAt: \"2026-11-20T09:30:00\" is not a time with an offset",
                "{\"type\":\"described\",\"puri\":\"a:b:c\"} | attributes: missing",
                "{\"type\":\"described\",\"puri\":\"a:b:c\",\"attributes\":{\"n\":1}} | attributes: n is not a text",
                "{\"type\":\"described\",\"puri\":\"a:b:c\",\"attributes\":{\"n\":{\"m\":[1]},\"t\":\"x\",\"t\":\"y\"}} | attributes: n is not a text; attributes: t is given twice",
                "{\"type\":\"described\",\"puri\":\"a:b:c\",\"attributes\":\"x\"} | attributes: an object of texts is expected, not a text",
                "{\"type\":\"described\",\"puri\":\"a:b:c\",\"attributes\":{\"n\":\"\\ud800\"}} | attributes: n is a text with half of a surrogate pair",
                "{\"type\":\"deleted\",\"puri\":\"a:b:c\",\"source\":\"\\udc00\"} | source: a text is expected, not a text with half of a surrogate pair",
                "{\"type\":\"merged\",\"puri\":\"a:b:c\",\"into\":\"a:b\"} | into: \"a:b\": a pURI has three segments",
                "{\"type\":\"moved\",\"puri\":\"a:b:c\"} | shard: missing",
                "{\"type\":\"created\",\"puri\":\"a:b:c\",\"owner\":\"o o\",\"shard\":\"s\"} | owner: \"o o\" at position 1: an owner is made of",
                "{\"type\":\"created\",\"puri\":\"a:b:c\",\"owner\":\"o\",\"shard\":\"s\",\"handle\":\"x\"} | handle: \"x\": a handle is three letters",
                "{\"type\":\"created\",\"puri\":\"a:b:c\"} | owner: missing; shard: missing",
                "{\"type\":\"deleted\",\"puri\":\"a:b:c\"} {} | more text follows the object",
                "{\"type\":\"deleted\" | not JSON: ",
                "nonsense | not JSON: ",
                "[] | not a JSON object",
                "\"text\" | not a JSON object",
            })
    void aMistakeNamesItsFieldAndTheReason(String line, String expected) {
        assertThat(String.join("; ", mistakes(line))).startsWith(expected);
    }

    @Test
    void aFieldNameCannotForgeALine() {
        assertThat(mistakes("{\"type\":\"deleted\",\"puri\":\"a:b:c\",\"x\\nline 2: fine\":1}"))
                .singleElement()
                .asString()
                .startsWith("x?line 2: fine: no such field");
    }

    @Test
    void deepNestingIsAMistakeWithoutStackOverflow() {
        String line = "{\"type\":\"deleted\",\"puri\":" + "[".repeat(100_000);
        assertThat(mistakes(line)).singleElement().asString().startsWith("not JSON: ");
    }

    @Test
    void fieldsBeyondTheirBoundsAreNamed() {
        String nil = "00000000-0000-0000-0000-000000000000";
        assertThat(mistakes("{\"type\":\"deleted\",\"puri\":\"a:b:c\",\"uuid\":\"" + nil + "\"}"))
                .singleElement()
                .asString()
                .startsWith("uuid");
        assertThat(mistakes("{\"type\":\"deleted\",\"puri\":\"a:b:c\",\"source\":\"\"}"))
                .singleElement()
                .asString()
                .startsWith("source");
        assertThat(mistakes("{" + CREATED + ",\"owner\":\"catalog\",\"shard\":\"br-1\",\"uuid\":\"" + nil + "\"}"))
                .singleElement()
                .asString()
                .contains(nil);
    }

    @Test
    void aFormattedEventParsesToTheSameEvent() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        IdentityMinter minter = new IdentityMinter();
        for (int i = 0; i < 500; i++) {
            Event event = randomEvent(random, minter);
            assertThat(event(EventLineFormatter.format(event)))
                    .as("seed %d round %d", seed, i)
                    .isEqualTo(event);
        }
    }

    /** A line of a creation has no guard, and its uuid is that of the new identity. */
    @Test
    void theGuardOfACreationDoesNotReplaceItsUuid() {
        IdentityMinter minter = new IdentityMinter();
        Change.Created created =
                new Change.Created(minter.uuid(), new Owner("catalog"), new Shard("br-1"), null, Map.of());
        Event guarded =
                new Event(minter.uuid(), Puri.parse("a:b:c"), Instant.EPOCH, "catalog", minter.uuid(), null, created);
        assertThat(event(EventLineFormatter.format(guarded)).change()).isEqualTo(created);
    }

    private static Event randomEvent(Random random, IdentityMinter minter) {
        Map<String, String> attributes = new HashMap<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            attributes.put("k\"" + i, "v\n\u2028" + Character.toString(0x1F600 + random.nextInt(10)));
        }
        Owner owner = new Owner("owner-" + random.nextInt(9));
        Shard shard = new Shard("br-" + random.nextInt(9));
        Change change = switch (random.nextInt(6)) {
            case 0 ->
                new Change.Created(
                        minter.uuid(),
                        owner,
                        shard,
                        random.nextBoolean() ? minter.handle(new Prefix("usr")) : null,
                        attributes);
            case 1 -> new Change.Moved(random.nextBoolean() ? owner : null, shard);
            case 2 -> new Change.Described(attributes);
            case 3 -> new Change.Merged(Puri.of("s", "t", "é/" + random.nextInt(99)));
            case 4 -> new Change.Deleted();
            default -> new Change.Erased();
        };
        UUID expectedUuid = change instanceof Change.Created || random.nextBoolean() ? null : minter.uuid();
        return new Event(
                minter.uuid(),
                Puri.of("soundcloud", "tracks", "a b:" + random.nextInt(1000)),
                Instant.ofEpochMilli(random.nextLong(4_000_000_000_000L)),
                "source " + random.nextInt(9),
                expectedUuid,
                random.nextBoolean() ? random.nextLong(100) : null,
                change);
    }

    static EventLineParser.Result parse(String line) {
        return new EventLineParser(new IdentityMinter(), TRACKS, InstantSource.fixed(NOW)).parse(line);
    }

    private static Event event(String line) {
        return switch (parse(line)) {
            case EventLineParser.Valid valid -> valid.event();
            case EventLineParser.Invalid invalid -> throw new AssertionError(invalid.mistakes());
        };
    }

    private static List<String> mistakes(String line) {
        return switch (parse(line)) {
            case EventLineParser.Valid valid -> throw new AssertionError("taken: " + valid.event());
            case EventLineParser.Invalid invalid -> invalid.mistakes();
        };
    }
}
