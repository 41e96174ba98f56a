package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.http.JsonBody;
import dev.puri.projection.DigestAtOffset;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The digests of identities and documents that the topology publishes. */
class DigestTest extends DrivenTopology {
    private static final Puri OTHER = Puri.parse("soundcloud:tracks:2");
    private static final TaskState NEW = new TaskState(EventCounts.NONE, TaskDigests.EMPTY);

    private final DigestedPartition readIdentities = new DigestedPartition(Topics.IDENTITIES);
    private final DigestedPartition readDocuments = new DigestedPartition(Topics.DOCUMENTS);
    private final UUID trackId = uuid();

    @BeforeEach
    void startWithoutRecords() {
        declare(SEARCHED);
        assertThat(digestsWithin(DigestState.REST)).isEqualTo(1);
        assertThat(readIdentities.last()).isEqualTo(PartitionDigest.EMPTY);
    }

    @Test
    void everyChangeOfARowOrDocumentChangesItsDigest() {
        publish(event(TRACK, created(trackId, null, "t")));
        assertChanged(true, true);
        publish(event(OTHER, created(uuid(), null, "u")));
        assertChanged(true, true);
        publish(event(TRACK, new Change.Described(Map.of("title", "described", "artist", "a"))));
        assertChanged(false, true);
        publish(event(TRACK, new Change.Moved(null, new Shard("us-1"))));
        assertChanged(true, true);
        publish(event(TRACK, created(trackId, HANDLE, "t")));
        assertChanged(true, true);
        publish(event(TRACK, new Change.Merged(OTHER)));
        assertChanged(true, true);
        publish(event(TRACK, new Change.Deleted()));
        assertChanged(true, true);
        publish(event(TRACK, created(uuid(), null, "again")));
        assertChanged(true, true);
        declare(TRACKS);
        publish(event(TRACK, new Change.Described(Map.of("title", "not searchable"))));
        assertChanged(false, true);
        declare(SEARCHED);
        publish(event(TRACK, new Change.Moved(null, new Shard("br-7"))));
        assertChanged(true, false);
        publish(event(OTHER, new Change.Erased()));
        assertChanged(true, true);
        publish(event(TRACK, new Change.Erased()));
        assertChanged(true, false);
        assertThat(readIdentities.last()).isEqualTo(PartitionDigest.EMPTY);
        assertThat(readDocuments.last()).isEqualTo(PartitionDigest.EMPTY);
    }

    @Test
    void refusedAndUnchangedEventsAreNoReasonToPublish() {
        Event created = event(TRACK, created(trackId, null, "t"));
        publish(created);
        assertChanged(true, true);
        publish(created);
        publish(created(TRACK, null));
        publish(event(OTHER, new Change.Deleted()));
        publish(event(TRACK, new Change.Moved(null, new Shard("br-1"))));
        assertThat(digestsWithin(Duration.ofSeconds(30))).isZero();
        assertThat(digestsWithin(Registrar.DIGEST_INTERVAL)).isEqualTo(1);
        assertThat(readIdentities.last().rows()).isEqualTo(1);
    }

    @Test
    void publishesASecondAfterTheLastChangeAndEveryMinute() {
        publish(created(TRACK, null));
        assertThat(digestsWithin(Duration.ofMillis(900))).isZero();
        publish(created(OTHER, null));
        assertThat(digestsWithin(Duration.ofMillis(900))).isZero();
        assertThat(digestsWithin(Duration.ofMillis(100))).isEqualTo(1);
        assertThat(readIdentities.last().rows()).isEqualTo(2);
        assertThat(digestsWithin(Duration.ofMinutes(10))).isEqualTo(10);
    }

    @Test
    void publishesEveryMinuteWhileEventsArriveWithoutPause() {
        int published = 0;
        for (int i = 0; i < 250; i++) {
            publish(created(Puri.of("soundcloud", "tracks", "n" + i), null));
            published += digestsWithin(Duration.ofMillis(500));
        }
        assertThat(published).isEqualTo(2);
        assertThat(digestsWithin(DigestState.REST)).isEqualTo(1);
        assertThat(readDocuments.last().rows()).isEqualTo(250);
    }

    @Test
    void httpShowsTheDigestsOfEachPartition() throws Exception {
        publish(created(TRACK, null));
        assertChanged(true, true);
        taskStates.putPublished(
                new TopicPartition(Topics.DOCUMENTS, 0), new DigestAtOffset(42, new PartitionDigest(7, 0xab)));
        String body = new String(JsonBody.bytes(new DigestBody(taskStates)));
        assertThat(new ObjectMapper().readTree(body))
                .isEqualTo(new ObjectMapper().readTree("""
                                {"topics":[
                                  {"topic":"puri.identities.v1","partitions":[{"partition":0,"rows":1,"digest":"%s"}]},
                                  {"topic":"puri.documents.v1","partitions":[{"partition":0,"rows":1,"digest":"%s",
                                    "publishedOffset":42,"publishedDigest":"7:00000000000000ab"}]}]}
                                """.formatted(readIdentities.last(), readDocuments.last())));
    }

    @Test
    void httpSaysWhyAPartitionHasNoDigest() {
        TaskStates states = new TaskStates();
        states.put(3, new TaskState(EventCounts.NONE, null));
        states.putPublished(new TopicPartition(Topics.IDENTITIES, 3), new DigestAtOffset(42, PartitionDigest.EMPTY));
        assertThat(new String(JsonBody.bytes(new DigestBody(states))))
                .contains("{\"partition\":3,\"detail\":\"the registrar has no digest of this partition, because")
                .doesNotContain("rows", "published");
    }

    @Test
    void thePublishedDigestOfATaskThatMovedAwayIsForgotten() {
        TaskStates states = new TaskStates();
        states.put(3, NEW);
        states.put(4, NEW);
        DigestAtOffset digest = new DigestAtOffset(42, PartitionDigest.EMPTY);
        states.putPublished(new TopicPartition(Topics.IDENTITIES, 3), digest);
        states.putPublished(new TopicPartition(Topics.IDENTITIES, 4), digest);
        states.remove(3);
        states.put(3, NEW);
        assertThat(states.published(Topics.IDENTITIES, 3)).isNull();
        assertThat(states.published(Topics.IDENTITIES, 4)).isEqualTo(digest);
    }

    @Test
    void stateOfAnEarlierReleaseHasDigestsOnlyIfNoEventWasRead() {
        ByteBuffer counts = ByteBuffer.allocate(EventCounts.BYTES);
        assertThat(TaskState.restore(counts.array(), false)).isEqualTo(NEW);
        new EventCounts(5, 2, 1, 1, 1, 7).writeTo(counts);
        TaskState earlier = TaskState.restore(counts.array(), true);
        assertThat(earlier).isEqualTo(new TaskState(new EventCounts(5, 2, 1, 1, 1, 7), null));
        assertThat(TaskState.restore(counts.array(), false))
                .as("all events were refused or are parked")
                .isEqualTo(earlier);
        assertThat(earlier.toBytes()).isEqualTo(counts.array());

        TaskState state =
                new TaskState(earlier.counts(), new TaskDigests(new PartitionDigest(1, -2), new PartitionDigest(3, 4)));
        assertThat(TaskState.restore(state.toBytes(), true)).isEqualTo(state);
        assertThat(state.toBytes()).as("an earlier release reads the counts").startsWith(counts.array());
    }

    @Test
    void aLostStateHasDigestsOnlyIfThereAreNoRegistrations() {
        assertThat(TaskState.restore(null, false)).isEqualTo(NEW);
        TaskState lost = new TaskState(EventCounts.NONE, null);
        assertThat(TaskState.restore(null, true)).isEqualTo(lost);
        assertThat(TaskState.restore(lost.toBytes(), true))
                .as("a grant was counted meanwhile, but no event")
                .isEqualTo(lost);
    }

    @Test
    void aRepeatedMergeWritesTheDocumentAgain() {
        Event merged = event(TRACK, new Change.Merged(OTHER));
        publish(event(TRACK, created(trackId, null, "t")));
        publish(merged);
        assertChanged(true, true);
        publish(event(TRACK, new Change.Merged(OTHER)));
        assertThat(repeatedDocument().attributes()).isEqualTo(Map.of("title", "t"));
        publish(merged);
        assertThat(repeatedDocument().mergedInto()).isEqualTo(OTHER);
        publish(event(TRACK, created(trackId, null, "t")));
        assertThat(documents.isEmpty())
                .as("a repeated creation may be older than the text")
                .isTrue();

        publish(event(TRACK, new Change.Deleted()));
        publish(merged);
        assertChanged(true, true);
        assertThat(readDocuments.last()).isEqualTo(PartitionDigest.EMPTY);
    }

    /** Returns the next document, which the last event wrote. */
    private Document repeatedDocument() {
        Document document = decoded(documents.readRecord());
        assertThat(document.status()).isEqualTo(Row.Status.MERGED);
        assertThat(documents.isEmpty()).isTrue();
        return document;
    }

    private void assertChanged(boolean identitiesChanged, boolean documentsChanged) {
        PartitionDigest identitiesBefore = readIdentities.last();
        PartitionDigest documentsBefore = readDocuments.last();
        assertThat(digestsWithin(DigestState.REST)).isEqualTo(1);
        assertThat(!readIdentities.last().equals(identitiesBefore)).isEqualTo(identitiesChanged);
        assertThat(!readDocuments.last().equals(documentsBefore)).isEqualTo(documentsChanged);
    }

    /** Lets time pass in ticks, and returns the number of digests that were published. Each is compared. */
    private int digestsWithin(Duration time) {
        for (long tick = time.dividedBy(Registrar.TICK_INTERVAL); tick > 0; tick--) {
            driver.advanceWallClockTime(Registrar.TICK_INTERVAL);
        }
        int before = readIdentities.digests();
        for (TestRecord<byte[], byte[]> record : identities.readAll()) {
            readIdentities.read(record.key(), record.value(), record.headers());
        }
        for (TestRecord<byte[], byte[]> record : documents.readAll()) {
            readDocuments.read(record.key(), record.value(), record.headers());
        }
        assertThat(readDocuments.digests()).isEqualTo(readIdentities.digests());
        return readIdentities.digests() - before;
    }
}
