package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.client.IdentityMinter;
import dev.puri.client.IdentityPublisher;
import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordWriter;
import java.lang.reflect.Field;
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
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Records that no program of ours writes, in every topic that the topology reads, on a real broker. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PoisonIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String REPARTITIONED_EVENTS = "puri-registry-intake-repartition";
    private static final String CLAIMS = "puri-registry-claims-repartition";

    private final IdentityMinter minter = new IdentityMinter();
    private RegistryStack stack;
    private KafkaProducer<byte[], byte[]> raw;

    @BeforeAll
    void start() {
        stack = new RegistryStack(RegistryStack.sharedSchemaRegistry(), Set.of("music"));
        raw = new KafkaProducer<>(stack.clientProperties(), new ByteArraySerializer(), new ByteArraySerializer());
        stack.declare(List.of(tracks()));
    }

    @AfterAll
    void stop() {
        raw.close();
        stack.close();
    }

    @Test
    void garbageInEveryTopicIsCountedAndStopsNothing(@TempDir Path stateDir) throws Exception {
        int entrySchema;
        try (var registry = stack.registry()) {
            entrySchema = registry.register(
                    Topics.COLLECTIONS + "-value",
                    RecordWriter.of(CollectionsEntry.class).schema());
        }
        try (RegistryStreams streams = RegistryStreams.start(stack.settings(stateDir))) {
            assertThat(outcomeOfNextClaim("before")).isEqualTo(Outcome.APPLIED);
            for (String topic : List.of(
                    Topics.EVENTS,
                    Topics.eventsTopicOf("music"),
                    Topics.COLLECTIONS,
                    Topics.GRANTS,
                    REPARTITIONED_EVENTS,
                    CLAIMS)) {
                boolean isCompacted = topic.equals(Topics.COLLECTIONS);
                for (Garbage.Form form : Garbage.forms(entrySchema)) {
                    if (!isCompacted || form.key() != null) {
                        raw.send(new ProducerRecord<>(topic, null, form.key(), form.value(), form.headers()));
                    }
                }
            }
            sendWithoutTimestamp(Topics.COLLECTIONS, TextCodec.utf8("untimed"), new byte[] {1, 2, 3, 4, 5});
            sendWithoutTimestamp(Topics.GRANTS, null, new byte[] {1, 2, 3, 4, 5});
            // A declaration without a timestamp is still valid.
            sendWithoutTimestamp(
                    Topics.COLLECTIONS,
                    TextCodec.utf8(tracks().key()),
                    RecordWriter.of(CollectionsEntry.class).encode(entrySchema, DeclarationAvro.toAvro(tracks())));
            raw.flush();
            assertThat(outcomeOfNextClaim("among")).isEqualTo(Outcome.APPLIED);
            for (String topic : List.of(Topics.COLLECTIONS, Topics.GRANTS, REPARTITIONED_EVENTS, CLAIMS)) {
                await().atMost(SOON).until(() -> skipped(streams, topic) > 0);
            }
            assertThat(streams.ended()).isNotDone();
        }
        try (RegistryStreams streams = RegistryStreams.start(stack.settings(stateDir))) {
            assertThat(outcomeOfNextClaim("after")).isEqualTo(Outcome.APPLIED);
            assertThat(skipped(streams, Topics.COLLECTIONS)).isPositive();
            assertThat(streams.ended()).isNotDone();
        }
    }

    private static Collection tracks() {
        return new Collection("soundcloud", "tracks", new Prefix("trk"), Set.of(), false, false, "", false);
    }

    /** The answer to an event that passes the registrar, the clerk and the registrar again. */
    private Outcome outcomeOfNextClaim(String name) throws Exception {
        Change created = new Change.Created(
                minter.uuid(), new Owner("catalog"), new Shard("br-1"), minter.handle(new Prefix("trk")), Map.of());
        Puri puri = Puri.of("soundcloud", "tracks", name);
        Position position;
        try (IdentityPublisher publisher = new IdentityPublisher(stack.clientProperties())) {
            position = publisher
                    .publish(new Event(minter.uuid(), puri, Instant.now(), "test", null, null, created))
                    .toCompletableFuture()
                    .get(SOON.toSeconds(), TimeUnit.SECONDS);
        }
        await().atMost(SOON).until(() -> stack.look().outcomes().containsKey(position));
        return stack.outcomes().get(position);
    }

    /** The public constructor refuses records that other clients and old brokers can write. */
    private void sendWithoutTimestamp(String topic, byte @Nullable [] key, byte[] value) throws Exception {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, null, 0L, key, value);
        Field timestamp = ProducerRecord.class.getDeclaredField("timestamp");
        timestamp.setAccessible(true);
        timestamp.set(record, -1L);
        raw.send(record).get(SOON.toSeconds(), TimeUnit.SECONDS);
    }

    private static double skipped(RegistryStreams streams, String topic) throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            String metrics = http.send(
                            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + streams.port() + "/metrics"))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
            return metrics.lines()
                    .filter(line ->
                            line.startsWith("puri_registry_records_skipped") && line.contains('"' + topic + '"'))
                    .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                    .sum();
        }
    }
}
