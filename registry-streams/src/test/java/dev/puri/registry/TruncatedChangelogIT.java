package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.client.IdentityMinter;
import dev.puri.client.IdentityPublisher;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Topics;
import dev.puri.testkit.DeletedRecords;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The topology on topics whose first records were deleted. */
@Order(1)
class TruncatedChangelogIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String APPLICATION = "puri-registry";
    private static final String CHANGELOG = RegistrarChangelogs.registrationsTopic(APPLICATION);
    private static final String CLAIMS = APPLICATION + "-" + RegistryTopology.CLAIMS_TOPIC + "-repartition";
    private static final Prefix PREFIX = new Prefix("trk");

    /** Enough for each partition to have some. */
    private static final int TRACKS = 40;

    @TempDir
    private Path stateDir;

    @TempDir
    private Path emptyDir;

    private final IdentityMinter minter = new IdentityMinter();
    private RegistryStack stack;
    private IdentityPublisher publisher;

    @BeforeEach
    void start() {
        stack = new RegistryStack(RegistryStack.sharedSchemaRegistry(), Set.of());
        stack.declare(List.of(new Collection("soundcloud", "tracks", PREFIX, Set.of(), false, false, "", false)));
        publisher = new IdentityPublisher(stack.clientProperties());
    }

    @AfterEach
    void stop() {
        publisher.close();
        stack.close();
    }

    @Test
    void waitsInsteadOfGivingNamesAwayUntilTheChangelogIsRestored() throws Exception {
        try (RegistryStreams streams = start(stateDir)) {
            createTracks(streams);
        }
        List<ConsumerRecord<byte[], byte[]>> backup = stack.records(CHANGELOG);
        DeletedRecords.deleteAll(stack.admin(), CHANGELOG);
        Position rival = publishCreation(1);

        // With the state of before, and without state.
        for (Path folder : List.of(stateDir, emptyDir)) {
            try (RegistryStreams streams = start(folder)) {
                await().atMost(SOON)
                        .untilAsserted(() -> assertThat(ready(streams).body())
                                .contains("records of partition 0 of " + CHANGELOG + " before offset ")
                                .contains("docs/disasters.md"));
                assertThat(ready(streams).statusCode()).isEqualTo(503);
                assertThat(ready(streams).body()).contains("\"state\":\"STARTING\"");
                assertThat(streams.isReady()).isFalse();
            }
        }
        assertThat(stack.look().outcomes()).doesNotContainKey(rival);

        restore(backup);
        try (RegistryStreams streams = start(emptyDir)) {
            assertThat(outcomeOf(rival)).isEqualTo(Outcome.refused(Reason.PURI_TAKEN));
            await().atMost(SOON).until(streams::isReady);
        }
    }

    @Test
    void waitsForTheDeclarationsToBeRestored() throws Exception {
        DeletedRecords.deleteAll(stack.admin(), Topics.COLLECTIONS);
        try (RegistryStreams streams = start(stateDir)) {
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(ready(streams).body())
                            .contains("records of partition 0 of puri.collections.v1 before offset ")
                            .contains("docs/operations.md"));
            assertThat(streams.isReady()).isFalse();
        }
    }

    @Test
    void anInstanceEndsInsteadOfTakingOverATaskWithATruncatedChangelog() throws Exception {
        RegistryStreams survivor = start(emptyDir);
        try {
            try (RegistryStreams other = start(stateDir)) {
                await().atMost(SOON).until(() -> survivor.isReady() && other.isReady());
                publishTracks();
                await().atMost(SOON)
                        .until(() -> survivor.counts().read() > 0
                                && other.counts().read() > 0
                                && survivor.counts().read() + other.counts().read() == TRACKS);
                await().atMost(SOON).until(() -> stack.look().outcomes().size() == TRACKS);
                DeletedRecords.deleteAll(stack.admin(), CHANGELOG);
            }
            assertThatThrownBy(() -> survivor.ended()
                            .orTimeout(SOON.toSeconds(), TimeUnit.SECONDS)
                            .join())
                    .hasCauseInstanceOf(TopologyFailedException.class)
                    .hasMessageContaining(" of " + CHANGELOG + " before offset ");
            assertThat(survivor.isReady()).isFalse();
        } finally {
            survivor.close();
        }
    }

    @Test
    void restartsAreNotAffectedAndMayFindPurgedRepartitionTopics() throws Exception {
        try (RegistryStreams streams = start(stateDir)) {
            createTracks(streams);
        }
        // Kafka Streams does the same, every 30 s.
        DeletedRecords.deleteAll(stack.admin(), CLAIMS);
        assertThat(logStart(new TopicPartition(CLAIMS, 0))).isPositive();
        assertThat(InternalTopics.checkTruncation(stack.admin(), APPLICATION)).isEmpty();
        assertThat(RegistryTopics.check(stack.admin(), APPLICATION, 1)).isEmpty();
        assertThat(RegistryTopics.toleratedDifferences(stack.admin(), APPLICATION))
                .as("Kafka Streams' own configs")
                .isEmpty();

        for (Path folder : List.of(stateDir, emptyDir)) {
            try (RegistryStreams streams = start(folder)) {
                await().atMost(SOON).until(streams::isReady);
                assertThat(outcomeOf(publishCreation(1))).isEqualTo(Outcome.refused(Reason.PURI_TAKEN));
            }
        }
    }

    private RegistryStreams start(Path folder) {
        return RegistryStreams.start(stack.settings(folder));
    }

    private void createTracks(RegistryStreams streams) throws Exception {
        publishTracks();
        await().atMost(SOON).until(() -> stack.look().outcomes().size() == TRACKS && streams.isReady());
        assertThat(stack.outcomes().values()).containsOnly(Outcome.APPLIED);
    }

    private void publishTracks() throws Exception {
        for (int i = 1; i <= TRACKS; i++) {
            publishCreation(i);
        }
    }

    private Position publishCreation(int track) throws Exception {
        Change created = new Change.Created(
                minter.uuid(), new Owner("catalog"), new Shard("br-1"), minter.handle(PREFIX), Map.of());
        Puri puri = Puri.of("soundcloud", "tracks", Integer.toString(track));
        return publisher
                .publish(new Event(minter.uuid(), puri, Instant.now(), "test", null, null, created))
                .toCompletableFuture()
                .get(SOON.toSeconds(), TimeUnit.SECONDS);
    }

    private Outcome outcomeOf(Position position) {
        await().atMost(SOON).until(() -> stack.look().outcomes().containsKey(position));
        return stack.outcomes().get(position);
    }

    /** Creates the changelog again with the records of a backup. */
    private void restore(List<ConsumerRecord<byte[], byte[]>> backup) throws Exception {
        stack.admin().deleteTopics(List.of(CHANGELOG)).all().get(SOON.toSeconds(), TimeUnit.SECONDS);
        await().atMost(SOON)
                .until(() -> !stack.admin()
                        .listTopics()
                        .names()
                        .get(SOON.toSeconds(), TimeUnit.SECONDS)
                        .contains(CHANGELOG));
        InternalTopics.createChangelogs(stack.admin(), APPLICATION, (short) 1);
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(stack.clientProperties(), new ByteArraySerializer(), new ByteArraySerializer())) {
            for (ConsumerRecord<byte[], byte[]> record : backup) {
                producer.send(new ProducerRecord<>(CHANGELOG, record.partition(), record.key(), record.value()))
                        .get(SOON.toSeconds(), TimeUnit.SECONDS);
            }
        }
    }

    private long logStart(TopicPartition partition) throws Exception {
        return stack.admin()
                .listOffsets(Map.of(partition, OffsetSpec.earliest()))
                .partitionResult(partition)
                .get(SOON.toSeconds(), TimeUnit.SECONDS)
                .offset();
    }

    private static HttpResponse<String> ready(RegistryStreams streams) throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + streams.port() + "/health/ready"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        }
    }
}
