package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.collection.WriteMode;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The whole topology, wired as it runs, without a broker. */
class RegistryTopologyTest extends DrivenTopology {
    /** A difference here renames stores or topics: consider running topologies before you change the file. */
    @Test
    void topologyEqualsTheCommittedDescription() throws IOException {
        String described = topology(properties()).describe().toString();
        try (InputStream golden = RegistryTopologyTest.class.getResourceAsStream("/topology.txt")) {
            assertThat(described.strip()).isEqualTo(new String(golden.readAllBytes(), StandardCharsets.UTF_8).strip());
        }
    }

    @Test
    void claimPassesThroughTheClerk() {
        declare(TRACKS);
        Event created = created(TRACK, HANDLE);
        publish(created);
        TestRecord<byte[], byte[]> answer = identities.readRecord();
        assertThat(header(answer, Position.HEADER)).isEqualTo("0-0");
        assertThat(header(answer, Outcome.HEADER)).isEqualTo("applied");
        assertThat(RowAvro.fromAvro(
                                RecordReader.of(IdentityRow.class).decode(answer.value(), IdentityRow.getClassSchema()))
                        .handle())
                .isEqualTo(HANDLE);
        publish(created);
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("unchanged");
        assertThat(identities.isEmpty()).isTrue();
        assertThat(taskStates.counts()).isEqualTo(new EventCounts(2, 1, 1, 0, 0, 0));
    }

    @Test
    void declarationHasFiveSecondsToCatchUp() {
        publish(created(TRACK, HANDLE));
        driver.advanceWallClockTime(Duration.ofSeconds(4));
        assertThat(identities.isEmpty()).isTrue();
        assertThat(taskStates.counts().parked()).isEqualTo(1);
        declare(TRACKS);
        driver.advanceWallClockTime(Registrar.TICK_INTERVAL);
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("applied");
    }

    @Test
    void refusesAnUndeclaredCollectionAfterFiveSeconds() {
        publish(created(TRACK, HANDLE));
        publish(event(TRACK, new Change.Moved(null, new Shard("us-1"))));
        driver.advanceWallClockTime(Registrar.DECLARATION_WAIT.plus(Registrar.TICK_INTERVAL));
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("refused:WRONG_PREFIX");
        assertThat(header(identities.readRecord(), Outcome.HEADER))
                .as("the event behind it in the parking is decided after it")
                .isEqualTo("refused:UNKNOWN_PURI");
        assertThat(rejections.readRecord().key()).isEqualTo(TRACK.toBytes());
    }

    @Test
    void anEventThatArrivesBeforeItsCollectionIsOpenedIsApplied() {
        declare(new Namespace("soundcloud", false, WriteMode.importBy("importer")));
        publish(created(TRACK, null));
        driver.advanceWallClockTime(Duration.ofSeconds(4));
        assertThat(identities.isEmpty()).isTrue();
        assertThat(taskStates.counts().parked()).isEqualTo(1);
        declare(new Namespace("soundcloud", false));
        driver.advanceWallClockTime(Registrar.TICK_INTERVAL);
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("applied");
    }

    @Test
    void aReadOnlyNamespaceRefusesChangesAfterFiveSecondsButErasesAtOnce() {
        declare(TRACKS);
        Event created = created(TRACK, HANDLE);
        publish(created);
        byte[] row = identities.readRecord().value();
        declare(new Namespace("soundcloud", false, WriteMode.READ_ONLY));
        publish(created);
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("unchanged");
        publish(event(TRACK, new Change.Deleted()));
        driver.advanceWallClockTime(Registrar.DECLARATION_WAIT.plus(Registrar.TICK_INTERVAL));
        TestRecord<byte[], byte[]> refusal = identities.readRecord();
        assertThat(header(refusal, Outcome.HEADER)).isEqualTo("refused:NOT_WRITABLE");
        assertThat(refusal.value()).isEqualTo(row);
        Rejection rejection = rejection();
        assertThat(rejection.getReason()).isEqualTo("NOT_WRITABLE");
        assertThat(rejection.getDetail()).isEqualTo("the namespace soundcloud is read-only");

        publish(event(TRACK, new Change.Erased()));
        TestRecord<byte[], byte[]> erased = identities.readRecord();
        assertThat(header(erased, Outcome.HEADER)).isEqualTo("applied");
        assertThat(erased.value()).isNull();
    }

    @Test
    void aRefusedCreationIsAppliedWhenItIsPublishedAgainAfterOpening() {
        declare(TRACKS);
        declare(new Namespace("soundcloud", false, WriteMode.READ_ONLY));
        Event created = created(TRACK, HANDLE);
        publish(created);
        driver.advanceWallClockTime(Registrar.DECLARATION_WAIT.plus(Registrar.TICK_INTERVAL));
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("refused:NOT_WRITABLE");
        declare(new Namespace("soundcloud", false));
        publish(created);
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("applied");
    }

    @Test
    void refusesEventsOutsideTheNamespacesOwnTopic() {
        declare(new Namespace("soundcloud", true));
        publish(created(TRACK, null));
        driver.advanceWallClockTime(Registrar.DECLARATION_WAIT.plus(Registrar.TICK_INTERVAL));
        assertThat(rejection().getReason()).isEqualTo("MALFORMED");

        input(Topics.eventsTopicOf("soundcloud")).pipeInput(TRACK.toBytes(), encoded(created(TRACK, null)));
        TestRecord<byte[], byte[]> answer = identities.readRecord();
        assertThat(header(answer, Outcome.HEADER)).isEqualTo("applied");
        assertThat(header(answer, Position.HEADER))
                .as("the first record of identities: other producers may write to the other topic")
                .isEqualTo("soundcloud-0-0");
    }

    @Test
    void aRefusalShowsTheCurrentRow() {
        publish(created(TRACK, null));
        byte[] row = identities.readRecord().value();
        publish(created(TRACK, null));
        TestRecord<byte[], byte[]> refusal = identities.readRecord();
        assertThat(header(refusal, Outcome.HEADER)).isEqualTo("refused:PURI_TAKEN");
        assertThat(refusal.value()).isEqualTo(row);
        Rejection rejection =
                RecordReader.of(Rejection.class).decode(rejections.readRecord().value(), Rejection.getClassSchema());
        assertThat(rejection.getReason()).isEqualTo(Reason.PURI_TAKEN.name());
        assertThat(rejection.getHolderShard()).isEqualTo("br-1");
        assertThat(rejection.getOriginal().remaining()).isEqualTo((int) rejection.getLength());
    }

    @Test
    void erasureLeavesATombstone() {
        publish(created(TRACK, null));
        publish(event(TRACK, new Change.Erased()));
        assertThat(identities.readRecord().value()).isNotNull();
        TestRecord<byte[], byte[]> erased = identities.readRecord();
        assertThat(erased.value()).isNull();
        assertThat(header(erased, Outcome.HEADER)).isEqualTo("applied");
    }

    @Test
    void documentFollowsItsIdentity() {
        declare(SEARCHED);
        publish(created(TRACK, null));
        TestRecord<byte[], byte[]> first = documents.readRecord();
        assertThat(first.key()).isEqualTo(TRACK.toBytes());
        assertThat(first.headers().toArray()).hasSize(1);
        assertThat(header(first, Position.HEADER)).isEqualTo("0-0");
        assertThat(decoded(first))
                .isEqualTo(new Document(
                        new Owner("catalog"),
                        new Shard("br-1"),
                        null,
                        Row.Status.ACTIVE,
                        null,
                        Map.of("title", "t"),
                        new Position(Topics.EVENTS, 0, 0)));

        publish(event(TRACK, new Change.Described(Map.of("artist", "a"))));
        assertThat(decoded(documents.readRecord()).attributes()).isEqualTo(Map.of("artist", "a"));
        publish(event(TRACK, new Change.Moved(new Owner("archive"), new Shard("us-1"))));
        Document moved = decoded(documents.readRecord());
        assertThat(moved.owner()).isEqualTo(new Owner("archive"));
        assertThat(moved.shard()).isEqualTo(new Shard("us-1"));
        assertThat(moved.attributes()).as("the text does not change").isEqualTo(Map.of("artist", "a"));
        assertThat(moved.position()).isEqualTo(new Position(Topics.EVENTS, 0, 2));
        publish(event(TRACK, new Change.Merged(Puri.parse("soundcloud:tracks:2"))));
        Document merged = decoded(documents.readRecord());
        assertThat(merged.status()).isEqualTo(Row.Status.MERGED);
        assertThat(merged.mergedInto()).isEqualTo(Puri.parse("soundcloud:tracks:2"));
        publish(event(TRACK, new Change.Deleted()));
        TestRecord<byte[], byte[]> deleted = documents.readRecord();
        assertThat(deleted.value()).isNull();
        assertThat(header(deleted, Position.HEADER)).isEqualTo("0-4");
        assertThat(text()).isNull();

        publish(created(TRACK, null));
        assertThat(decoded(documents.readRecord()).attributes()).isEqualTo(Map.of("title", "t"));
        assertThat(documents.isEmpty()).isTrue();
    }

    @Test
    void handleAddedLaterIsWrittenToTheDocument() {
        declare(SEARCHED);
        UUID uuid = uuid();
        publish(event(TRACK, created(uuid, null, "as created")));
        publish(event(TRACK, new Change.Described(Map.of("title", "as described"))));
        publish(event(TRACK, created(uuid, HANDLE, "as created")));
        documents.readRecord();
        documents.readRecord();
        Document named = decoded(documents.readRecord());
        assertThat(named.handle()).isEqualTo(HANDLE);
        assertThat(named.attributes()).isEqualTo(Map.of("title", "as described"));
    }

    @Test
    void refusedAndUnchangedEventsKeepTheDocument() {
        declare(SEARCHED);
        Event created = created(TRACK, null);
        publish(created);
        documents.readRecord();
        publish(created);
        publish(created(TRACK, null));
        publish(event(TRACK, new Change.Described(Map.of("title", "x".repeat(AttributeBounds.MAX_BYTES)))));
        identities.readRecord();
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("unchanged");
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("refused:PURI_TAKEN");
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("refused:TOO_LARGE");
        assertThat(documents.isEmpty()).isTrue();
    }

    @Test
    void erasureForgetsTheText() {
        declare(SEARCHED);
        publish(created(TRACK, null));
        assertThat(text()).isNotNull();
        publish(event(TRACK, new Change.Erased()));
        assertThat(text()).isNull();
        assertThat(documents.readRecord().value()).isNotNull();
        assertThat(documents.readRecord().value()).isNull();
        publish(event(TRACK, new Change.Erased()));
        assertThat(documents.readRecord().value())
                .as("the repeated erasure deletes the row again")
                .isNull();
    }

    @Test
    void documentsOfACollectionThatIsNoLongerSearchableAreDeletedEventByEvent() {
        declare(SEARCHED);
        publish(created(TRACK, null));
        documents.readRecord();
        declare(TRACKS);
        assertThat(documents.isEmpty()).isTrue();
        publish(event(TRACK, new Change.Moved(null, new Shard("us-1"))));
        assertThat(documents.readRecord().value()).isNull();
        assertThat(text()).isNull();
        publish(event(TRACK, new Change.Described(Map.of("title", "before"))));
        publish(event(TRACK, new Change.Moved(null, new Shard("us-2"))));

        declare(SEARCHED);
        publish(event(TRACK, new Change.Moved(null, new Shard("us-3"))));
        assertThat(documents.isEmpty())
                .as("the document has no searchable text")
                .isTrue();
        publish(event(TRACK, new Change.Described(Map.of("title", "after"))));
        assertThat(decoded(documents.readRecord()).shard()).isEqualTo(new Shard("us-3"));
    }

    @Test
    void ignoresTheTimestampOfTheProducer() {
        events.pipeInput(new TestRecord<>(TRACK.toBytes(), encoded(created(TRACK, null)), null, Long.MAX_VALUE));
        events.pipeInput(new TestRecord<>(TRACK.toBytes(), encoded(event(TRACK, new Change.Deleted())), null, 0L));
        assertThat(identities.readRecord().timestamp())
                .isEqualTo(Instant.parse("2026-01-01T00:00:00Z").toEpochMilli());
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("applied");
    }

    @Test
    void writesAMarkerToQuietChangelogsOnceAWeek() {
        OutputReader changelog = output("puri-registry-" + RegistryTopology.REGISTRATIONS_STORE + "-changelog");
        driver.advanceWallClockTime(Duration.ofHours(1));
        driver.advanceWallClockTime(Duration.ofDays(6));
        assertThat(changelog.isEmpty()).isTrue();
        driver.advanceWallClockTime(Duration.ofDays(2));
        assertThat(changelog.readRecord().key()).isEqualTo(StoreKey.of(Puri.parse("puri:marker:0")));
        driver.advanceWallClockTime(Duration.ofDays(6));
        assertThat(changelog.isEmpty()).isTrue();
    }

    @Test
    void refusesThePuriOfAMarker() {
        publish(created(Puri.parse("puri:marker:0"), null));
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("refused:MALFORMED");
    }

    @Test
    void dropsHeadersOfTheProducer() {
        TestRecord<byte[], byte[]> forged = new TestRecord<>(TRACK.toBytes(), encoded(created(TRACK, null)));
        forged.headers().add(Position.HEADER, "7-7".getBytes(StandardCharsets.UTF_8));
        forged.headers().add("secret", new byte[] {1});
        events.pipeInput(forged);
        TestRecord<byte[], byte[]> answer = identities.readRecord();
        assertThat(answer.headers().toArray()).hasSize(2);
        assertThat(header(answer, Position.HEADER)).isEqualTo("0-0");
    }

    @Test
    void refusesAttributesThatAreTooLarge() {
        String large = "x".repeat(AttributeBounds.MAX_BYTES);
        publish(event(
                TRACK,
                new Change.Created(uuid(), new Owner("catalog"), new Shard("br-1"), null, Map.of("title", large))));
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("refused:TOO_LARGE");
    }

    @Test
    void badUuidIsMalformedAndNotUndecodable() {
        byte[] value = encoded(created(TRACK, null));
        String text = new String(value, StandardCharsets.ISO_8859_1);
        int at = text.indexOf("01970000");
        byte[] bad = (text.substring(0, at) + "zz" + text.substring(at + 2)).getBytes(StandardCharsets.ISO_8859_1);
        events.pipeInput(TRACK.toBytes(), bad);
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("refused:MALFORMED");
        Rejection rejection =
                RecordReader.of(Rejection.class).decode(rejections.readRecord().value(), Rejection.getClassSchema());
        assertThat(rejection.getDetail()).contains("eventId");
    }

    @Test
    void refusalOfANonCanonicalKeyContainsTheCanonicalPuri() {
        Rejection odd = refusalOfKey(TextCodec.utf8("Music:Tracks:A"));
        assertThat(odd.getDetail())
                .isEqualTo("the record's key \"Music:Tracks:A\" is not in canonical form;"
                        + " the key of this event must be music:tracks:a");
        assertThat(odd.getPuri()).isEqualTo("music:tracks:a");

        Rejection none = refusalOfKey(TextCodec.utf8("\u001b[31mtrack \"1\"\n"));
        assertThat(none.getDetail())
                .isEqualTo("the record's key \"\\u001B[31mtrack \\\"1\\\"\\u000A\" is not a pURI;"
                        + " the key of an event must be its pURI in canonical form");
        assertThat(none.getPuri()).isNull();

        assertThat(refusalOfKey(TextCodec.utf8("é".repeat(500))).getDetail()).hasSizeLessThan(200);
        assertThat(refusalOfKey(null).getDetail()).contains("no key");
        assertThat(identities.isEmpty()).isTrue();
    }

    private Rejection refusalOfKey(byte[] key) {
        events.pipeInput(key, encoded(created(TRACK, null)));
        return rejection();
    }

    @Test
    void refusesAnUnknownSchemaAndWaitsForAnUnreachableRegistry() {
        events.pipeInput(TRACK.toBytes(), new byte[] {0, 0, 0, 1, 1, 0});
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("refused:UNDECODABLE");

        byte[] value = encoded(created(TRACK, null));
        schemaRegistry.setAway(true);
        SchemaLookup fresh = new SchemaLookup(
                schemaRegistry, InstantSource.system(), Duration.ofMillis(10), 5, Duration.ofMillis(10));
        assertThat(fresh.lookUp(eventSchemaId())).isInstanceOf(SchemaLookup.Pending.class);
        await().pollInterval(Duration.ofMillis(10)).until(() -> fresh.unreachableSince() != null);
        schemaRegistry.setAway(false);
        assertThat(fresh.await(eventSchemaId())).isInstanceOf(SchemaLookup.Known.class);
        assertThat(fresh.unreachableSince()).isNull();
        fresh.close();
        events.pipeInput(TRACK.toBytes(), value);
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("applied");
    }

    /** A record without a timestamp is the one form that the driver cannot send; {@link PoisonIT} does. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                Topics.EVENTS,
                Topics.EVENTS + ".music",
                Topics.COLLECTIONS,
                Topics.GRANTS,
                "puri-registry-intake-repartition",
                "puri-registry-claims-repartition"
            })
    void garbageInASourceTopicIsSkippedOrRefused(String topic) {
        declare(TRACKS);
        if (topic.startsWith(Topics.EVENTS + '.')) {
            // The driver learns of a topic that matches a pattern when it is first written to.
            input(topic).pipeInput(new byte[] {1}, new byte[] {1});
        }
        TestInputTopic<byte[], byte[]> poisoned = input(topic);
        int piped = 0;
        for (Garbage.Form form : Garbage.forms(eventSchemaId())) {
            poisoned.pipeInput(new TestRecord<>(form.key(), form.value(), form.headers()));
            piped++;
        }
        Set<String> answered = Set.of(Topics.EVENTS, Topics.EVENTS + ".music");
        if (answered.contains(topic)) {
            assertThat(taskStates.counts().refused()).isGreaterThanOrEqualTo(piped);
        } else if (!topic.equals(Topics.COLLECTIONS)) {
            assertThat(skipped.count(topic)).isEqualTo(piped);
        } else {
            assertThat(skipped.count(topic)).isPositive();
            declare(TRACKS);
        }
        while (!identities.isEmpty()) {
            identities.readRecord();
        }
        publish(created(TRACK, HANDLE));
        assertThat(header(identities.readRecord(), Outcome.HEADER)).isEqualTo("applied");
    }
}
