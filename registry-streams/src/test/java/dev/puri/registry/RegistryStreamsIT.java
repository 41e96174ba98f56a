package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.client.Delivery;
import dev.puri.client.IdentityMinter;
import dev.puri.client.IdentityPublisher;
import dev.puri.projection.DigestAtOffset;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.testkit.RestartableSchemaRegistry;
import dev.puri.testkit.SchemaRegistryFixture;
import java.lang.reflect.Field;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The topology as a service on a real broker and a real schema registry. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RegistryStreamsIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String TEXTS_CHANGELOG = "puri-registry-" + RegistryTopology.TEXTS_STORE + "-changelog";

    private final IdentityMinter minter = new IdentityMinter();
    private final RestartableSchemaRegistry schemaRegistry = SchemaRegistryFixture.start();
    private RegistryStack stack;
    private RegistryStreams streams;
    private IdentityPublisher publisher;
    private KafkaProducer<byte[], byte[]> raw;

    @BeforeAll
    void start(@TempDir Path stateDir) {
        stack = new RegistryStack(schemaRegistry.url(), Set.of());
        stack.declare(
                List.of(new Collection("soundcloud", "tracks", new Prefix("trk"), Set.of(), false, false, "", false)));
        streams = RegistryStreams.start(stack.settings(stateDir));
        publisher = new IdentityPublisher(stack.clientProperties());
        raw = new KafkaProducer<>(stack.clientProperties(), new ByteArraySerializer(), new ByteArraySerializer());
        await().atMost(SOON).until(streams::isReady);
    }

    @AfterAll
    void stop() {
        raw.close();
        publisher.close();
        streams.close();
        stack.close();
        schemaRegistry.close();
    }

    @Test
    void firstClaimWinsAcrossShards() throws Exception {
        Puri track = Puri.parse("soundcloud:tracks:first");
        Handle handle = minter.handle(new Prefix("trk"));
        UUID uuid = minter.uuid();
        Position first = publish(created(track, uuid, "br-1", handle));
        Position rival = publish(created(track, minter.uuid(), "us-1", minter.handle(new Prefix("trk"))));
        assertThat(outcomeOf(first)).isEqualTo(Outcome.APPLIED);
        // Only now, because the events of two pURIs have no order, and the first claim gets the handle.
        Position thief = publish(created(Puri.parse("soundcloud:tracks:thief"), minter.uuid(), "us-1", handle));

        assertThat(outcomeOf(rival)).isEqualTo(Outcome.refused(Reason.PURI_TAKEN));
        assertThat(outcomeOf(thief)).isEqualTo(Outcome.refused(Reason.HANDLE_TAKEN));
        assertThat(stack.rows().get(track).shard()).isEqualTo(new Shard("br-1"));
        assertThat(stack.rows().get(track).handle()).isEqualTo(handle);
        assertThat(stack.rows()).doesNotContainKey(Puri.parse("soundcloud:tracks:thief"));
        Rejection rejection = rejectionOf(rival);
        assertThat(rejection.getHolderOwner()).isEqualTo("catalog");
        assertThat(rejection.getHolderShard()).isEqualTo("br-1");
    }

    @Test
    void aBatchPublishedTwiceCountsOnce() {
        Puri track = Puri.parse("batch:tracks:1");
        Puri gone = Puri.parse("batch:tracks:2");
        Puri duplicate = Puri.parse("batch:tracks:3");
        List<Event> batch = List.of(
                created(track, minter.uuid(), "br-1", null),
                created(gone, minter.uuid(), "br-1", null),
                created(duplicate, minter.uuid(), "br-1", null),
                event(track, new Change.Moved(null, new Shard("us-1"))),
                event(track, new Change.Moved(null, new Shard("br-1"))),
                event(gone, new Change.Deleted()),
                event(duplicate, new Change.Merged(track)));

        assertThat(outcomesOf(publisher.publishAll(batch))).containsOnly(Outcome.APPLIED);
        List<Row> rows = rowsOf(track, gone, duplicate);
        assertThat(rows).extracting(Row::epoch).containsExactly(3L, 2L, 2L);

        assertThat(outcomesOf(publisher.publishAll(batch))).containsOnly(Outcome.UNCHANGED);
        assertThat(rowsOf(track, gone, duplicate)).isEqualTo(rows);
    }

    private List<Outcome> outcomesOf(List<Delivery> deliveries) {
        return deliveries.stream()
                .map(delivery -> outcomeOf(((Delivery.Acknowledged) delivery).token()))
                .toList();
    }

    private List<Row> rowsOf(Puri... puris) {
        return Stream.of(puris).map(puri -> stack.rows().get(puri)).toList();
    }

    @Test
    void documentFollowsItsIdentityAndItsTextIsForgotten() throws Exception {
        Prefix prefix = new Prefix("pls");
        stack.declare(List.of(new Collection("soundcloud", "playlists", prefix, Set.of(), true, false, "", false)));
        Puri puri = Puri.parse("soundcloud:playlists:1");
        Handle handle = minter.handle(prefix);
        Map<String, String> text = Map.of("title", "Füße im Sand");
        Position created = publish(
                event(puri, new Change.Created(minter.uuid(), new Owner("catalog"), new Shard("br-1"), handle, text)));
        assertThat(documentOf(puri, created).attributes()).isEqualTo(text);
        Position moved = publish(event(puri, new Change.Moved(null, new Shard("us-1"))));
        assertThat(documentOf(puri, moved))
                .isEqualTo(new Document(
                        new Owner("catalog"), new Shard("us-1"), handle, Row.Status.ACTIVE, null, text, moved));
        assertThat(stack.lastOf(TEXTS_CHANGELOG, StoreKey.of(puri))).isEqualTo(AttributesCodec.encode(text));

        Position erased = publish(event(puri, new Change.Erased()));
        await().atMost(SOON).until(() -> stack.look().isDocumented(erased));
        assertThat(stack.documents()).doesNotContainKey(puri);
        assertThat(stack.lastOf(TEXTS_CHANGELOG, StoreKey.of(puri)))
                .as("the changelog has no text for a restore")
                .isNull();
    }

    @Test
    void publishesTheDigestOfEachPartition() throws Exception {
        stack.declare(List.of(new Collection("digest", "things", null, Set.of(), true, false, "", false)));
        for (int i = 0; i < 20; i++) {
            Puri puri = Puri.of("digest", "things", "t" + i);
            publish(event(
                    puri,
                    new Change.Created(
                            minter.uuid(), new Owner("catalog"), new Shard("br-1"), null, Map.of("title", "t" + i))));
        }
        // RegistryStack compares each digest with the records before it.
        await().atMost(SOON)
                .until(() -> stack.look().digested().values().stream()
                        .allMatch(read -> read.sum().equals(read.last())));
        await().atMost(SOON).untilAsserted(() -> assertThat(digestsByHttp()).isEqualTo(lastDigests()));
        assertThat(lastDigests()).hasSize(2 * RegistryStack.PARTITIONS);
    }

    @Test
    void httpAndMetricsShowTheOffsetOfEachPublishedDigest() throws Exception {
        publish(created(Puri.parse("digest:offsets:1"), minter.uuid(), "br-1", null));
        await().atMost(SOON).untilAsserted(() -> {
            Map<TopicPartition, DigestAtOffset> published = stack.look().publishedDigests();
            assertThat(published).hasSize(2 * RegistryStack.PARTITIONS);
            assertThat(publishedByHttp()).isEqualTo(published);
            String metrics = get("/metrics").body();
            published.forEach((partition, digest) -> {
                String tags = "{partition=\"" + partition.partition() + "\",topic=\"" + partition.topic() + "\"} ";
                assertThat(metrics)
                        .contains("puri_digest_offset" + tags + (double) digest.offset())
                        .contains("puri_digest_rows" + tags
                                + (double) digest.digest().rows());
            });
        });
    }

    private Map<TopicPartition, DigestAtOffset> publishedByHttp() throws Exception {
        Map<TopicPartition, DigestAtOffset> published = new HashMap<>();
        for (JsonNode topic :
                new ObjectMapper().readTree(get("/v1/digest").body()).path("topics")) {
            for (JsonNode partition : topic.path("partitions")) {
                if (!partition.has("publishedDigest")) {
                    continue;
                }
                published.put(
                        new TopicPartition(
                                topic.path("topic").asText(),
                                partition.path("partition").asInt()),
                        new DigestAtOffset(
                                partition.path("publishedOffset").asLong(),
                                PartitionDigest.parse(
                                        partition.path("publishedDigest").asText())));
            }
        }
        return published;
    }

    private Map<String, String> lastDigests() {
        Map<String, String> digests = new TreeMap<>();
        stack.look()
                .digested()
                .forEach((partition, read) -> digests.put(partition.toString(), String.valueOf(read.last())));
        return digests;
    }

    private Map<String, String> digestsByHttp() throws Exception {
        Map<String, String> digests = new TreeMap<>();
        for (JsonNode topic :
                new ObjectMapper().readTree(get("/v1/digest").body()).path("topics")) {
            for (JsonNode partition : topic.path("partitions")) {
                digests.put(
                        topic.path("topic").asText()
                                + '-'
                                + partition.path("partition").asInt(),
                        partition.path("digest").asText());
            }
        }
        return digests;
    }

    @Test
    void applyThenPublishWorks() throws Exception {
        for (int i = 0; i < 5; i++) {
            Prefix prefix = new Prefix("ap" + (char) ('a' + i));
            stack.declare(List.of(new Collection("late", "c" + i, prefix, Set.of(), false, false, "", false)));
            Position position =
                    publish(created(Puri.of("late", "c" + i, "x"), minter.uuid(), "br-1", minter.handle(prefix)));
            assertThat(outcomeOf(position)).isEqualTo(Outcome.APPLIED);
        }
    }

    @Test
    void invalidRecordsDoNotStopTheStream() throws Exception {
        byte[] key = "wild:things:rubbish".getBytes(StandardCharsets.UTF_8);
        Position unknownSchema = send(Topics.EVENTS, key, new byte[] {0, 0x7f, 0, 0, 0, 1});
        Position noEvent = send(Topics.EVENTS, key, "hello".getBytes(StandardCharsets.UTF_8));
        Position nothing = send(Topics.EVENTS, key, null);
        Position huge = send(Topics.EVENTS, key, new byte[1_000_000]);
        Position keyless = send(Topics.EVENTS, null, new byte[] {1});
        Position hugeKey = send(Topics.EVENTS, new byte[500_000], new byte[500_000]);
        Position shouted = send(Topics.EVENTS, "Wild:Things:X".getBytes(StandardCharsets.UTF_8), new byte[] {1});
        Position good = publish(created(Puri.parse("wild:things:rubbish"), minter.uuid(), "br-1", null));

        assertThat(outcomeOf(good)).isEqualTo(Outcome.APPLIED);
        for (Position position : List.of(unknownSchema, noEvent, nothing)) {
            assertThat(outcomeOf(position)).isEqualTo(Outcome.refused(Reason.UNDECODABLE));
        }
        assertThat(outcomeOf(huge)).isEqualTo(Outcome.refused(Reason.TOO_LARGE));
        assertThat(rejectionOf(huge).getLength()).isEqualTo(1_000_000);
        assertThat(rejectionOf(huge).getOriginal().remaining()).isEqualTo(RawEvent.KEPT_BYTES);
        for (Position position : List.of(keyless, hugeKey, shouted)) {
            assertThat(rejectionOf(position).getReason()).isEqualTo("MALFORMED");
        }
        assertThat(stack.outcomes()).doesNotContainKeys(keyless, hugeKey, shouted);
    }

    @Test
    void eventOnTheWrongPartitionIsRefusedAndHarmless() throws Exception {
        Puri puri = Puri.parse("wild:things:misplaced");
        Position right = publish(created(puri, minter.uuid(), "br-1", null));
        assertThat(outcomeOf(right)).isEqualTo(Outcome.APPLIED);
        int wrong = (right.partition() + 1) % RegistryStack.PARTITIONS;
        byte[] value = encoded(event(puri, new Change.Deleted()));
        RecordMetadata sent = raw.send(new ProducerRecord<>(Topics.EVENTS, wrong, puri.toBytes(), value))
                .get(SOON.toSeconds(), TimeUnit.SECONDS);
        Rejection rejection = rejectionOf(new Position(Topics.EVENTS, wrong, sent.offset()));
        assertThat(rejection.getReason()).isEqualTo("MALFORMED");
        assertThat(rejection.getDetail()).contains("partition");
        assertThat(stack.rows()).containsKey(puri);
    }

    @Test
    void namespaceTopicWithAnyNumberOfPartitionsIsRead() throws Exception {
        stack.declare(List.of(new Namespace("music", true)));
        String topic = Topics.eventsTopicOf("music");
        RegistryTopics.create(stack.admin(), 7, (short) 1, Set.of("music"));
        Puri album = Puri.parse("music:albums:1");

        Position own = send(topic, album.toBytes(), encoded(created(album, minter.uuid(), "br-1", null)));
        Position shared = publish(event(album, new Change.Deleted()));
        Position foreign = send(
                topic,
                "wild:things:1".getBytes(StandardCharsets.UTF_8),
                encoded(created(Puri.parse("wild:things:1"), minter.uuid(), "br-1", null)));

        Position keyless = send(topic, null, new byte[] {1});

        assertThat(rejectionOf(keyless).getReason()).isEqualTo("MALFORMED");
        assertThat(outcomeOf(own)).isEqualTo(Outcome.APPLIED);
        assertThat(rejectionOf(shared).getReason()).isEqualTo("MALFORMED");
        assertThat(rejectionOf(foreign).getReason()).isEqualTo("MALFORMED");
        assertThat(stack.outcomes())
                .as("other producers may write to those topics")
                .doesNotContainKeys(shared, foreign);
        assertThat(stack.rows()).containsKey(album);
    }

    @Test
    void acceptsTimestampMinusOne() throws Exception {
        stack.declare(List.of(new Namespace("timeless", true)));
        String topic = Topics.eventsTopicOf("timeless");
        stack.admin()
                .createTopics(List.of(
                        new NewTopic(topic, 1, (short) 1).configs(Map.of("message.timestamp.type", "CreateTime"))))
                .all()
                .get(SOON.toSeconds(), TimeUnit.SECONDS);
        Puri puri = Puri.parse("timeless:things:1");
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                topic, null, 0L, puri.toBytes(), encoded(created(puri, minter.uuid(), "br-1", null)));
        // The public constructor refuses records that other clients and old brokers can write.
        Field timestamp = ProducerRecord.class.getDeclaredField("timestamp");
        timestamp.setAccessible(true);
        timestamp.set(record, -1L);
        RecordMetadata sent = raw.send(record).get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(outcomeOf(new Position(topic, sent.partition(), sent.offset())))
                .isEqualTo(Outcome.APPLIED);
    }

    @Test
    void parksEventsWhileTheSchemaRegistryIsUnreachable() throws Exception {
        Puri puri = Puri.parse("wild:things:waits");
        Schema other = new Schema.Parser().parse(IdentityEvent.getClassSchema().toString());
        other.addProp("edition", "second");
        int id;
        try (var registry = stack.registry()) {
            id = registry.register(Topics.EVENTS + "-value", other);
        }
        assertThat(outcomeOf(publish(created(Puri.parse("wild:things:known"), minter.uuid(), "br-1", null))))
                .isEqualTo(Outcome.APPLIED);
        schemaRegistry.stop();
        Position waiting;
        Position behind;
        try {
            byte[] unknownSoFar = RecordWriter.of(IdentityEvent.class)
                    .encode(id, EventAvro.toAvro(created(puri, minter.uuid(), "br-1", null)));
            waiting = send(Topics.EVENTS, puri.toBytes(), unknownSoFar);
            behind = publish(event(puri, new Change.Moved(null, new Shard("us-1"))));
            await().atMost(SOON).until(() -> streams.counts().parked() == 2 && !streams.isReady());
            Position other2 = publish(created(Puri.parse("wild:things:goes-on"), minter.uuid(), "br-1", null));
            assertThat(outcomeOf(other2)).isEqualTo(Outcome.APPLIED);
            assertThat(ready().statusCode()).isEqualTo(503);
            assertThat(ready().body()).contains("schemaRegistryOutOfReachSince");
        } finally {
            schemaRegistry.start();
        }
        assertThat(outcomeOf(waiting)).isEqualTo(Outcome.APPLIED);
        assertThat(outcomeOf(behind)).isEqualTo(Outcome.APPLIED);
        assertThat(stack.rows().get(puri).shard()).isEqualTo(new Shard("us-1"));
        await().atMost(SOON).until(streams::isReady);
        assertThat(ready().statusCode()).isEqualTo(200);
        assertThat(streams.counts().isBalanced()).isTrue();
    }

    private HttpResponse<String> ready() throws Exception {
        return get("/health/ready");
    }

    private HttpResponse<String> get(String path) throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + streams.port() + path))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        }
    }

    private Outcome outcomeOf(Position position) {
        await().atMost(SOON).until(() -> stack.look().outcomes().containsKey(position));
        return stack.outcomes().get(position);
    }

    private Document documentOf(Puri puri, Position position) {
        await().atMost(SOON).until(() -> stack.look().isDocumented(position));
        return stack.documents().get(puri);
    }

    private Rejection rejectionOf(Position position) {
        await().atMost(SOON).until(() -> find(position) != null);
        return find(position);
    }

    private @Nullable Rejection find(Position position) {
        return stack.look().rejections().stream()
                .filter(r -> r.getPosition().getTopic().equals(position.topic())
                        && r.getPosition().getPartition() == position.partition()
                        && r.getPosition().getOffset() == position.offset())
                .findFirst()
                .orElse(null);
    }

    private Position publish(Event event) throws Exception {
        return publisher.publish(event).toCompletableFuture().get(SOON.toSeconds(), TimeUnit.SECONDS);
    }

    private Position send(String topic, byte @Nullable [] key, byte @Nullable [] value) throws Exception {
        RecordMetadata sent = raw.send(new ProducerRecord<>(topic, key, value)).get(SOON.toSeconds(), TimeUnit.SECONDS);
        return new Position(topic, sent.partition(), sent.offset());
    }

    private byte[] encoded(Event event) {
        try (var registry = stack.registry()) {
            int id = registry.register(Topics.EVENTS + "-value", IdentityEvent.getClassSchema());
            return RecordWriter.of(IdentityEvent.class).encode(id, EventAvro.toAvro(event));
        }
    }

    private Event created(Puri puri, UUID uuid, String shard, @Nullable Handle handle) {
        return event(puri, new Change.Created(uuid, new Owner("catalog"), new Shard(shard), handle, Map.of()));
    }

    private Event event(Puri puri, Change change) {
        return new Event(minter.uuid(), puri, Instant.now(), "test", null, null, change);
    }
}
