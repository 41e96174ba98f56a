package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordWriter;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The resolver and the indexer answer the token of every event, whatever its kind and outcome.
 */
@Timeout(300)
@Order(2)
final class EveryTokenIT {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int EVENTS = 400;
    private static final int NAMES = 12;

    @TempDir
    private static Path data;

    private final long seed = Long.getLong("puri.seed", new Random().nextLong());
    private final Random random = new Random(seed);
    private final HttpClient client = HttpClient.newHttpClient();
    private final RecordWriter<IdentityEvent> writer = RecordWriter.of(IdentityEvent.class);
    private final List<Event> history = new ArrayList<>();
    private int handles;

    /** An event's token, with the name that its publisher would look up. */
    private record Sent(Position token, Puri puri, String what) {}

    /**
     * Every token is asked for twice: as the events come, and of servers that were started again since. The resolver
     * starts from a snapshot then, and the indexer from its index: both begin behind the erasures.
     */
    @Test
    void everyTokenIsAnsweredBeforeAndAfterARestart() throws Exception {
        List<Sent> all = new ArrayList<>();
        Map<Sent, Integer> before = new LinkedHashMap<>();
        Set<Position> listed;
        try (EmbeddedStack stack = start()) {
            declare(stack);
            publish(stack, all);
            for (Sent sent : all) {
                before.put(sent, ask(stack, sent));
            }
            Set<Position> refused = new HashSet<>();
            before.forEach((sent, status) -> {
                if (status == 409) {
                    refused.add(sent.token());
                }
            });
            assertThat(before.values()).as("seed %d", seed).containsOnly(200, 404, 410, 409);
            // Rejections of erased names are no longer listed.
            listed = rejections(stack);
            assertThat(refused).as("seed %d", seed).containsAll(listed);
        }
        try (EmbeddedStack stack = start()) {
            for (Sent sent : all) {
                if (isScattered(sent.puri())) {
                    continue;
                }
                // Its object may have been deleted or erased by a later event since.
                assertThat(ask(stack, sent) == 409)
                        .as("seed %d, %s is refused after a restart", seed, sent)
                        .isEqualTo(before.get(sent) == 409);
            }
            assertThat(rejections(stack))
                    .as("seed %d, after a restart; the rejections of erased names stay omitted", seed)
                    .isEqualTo(listed);
        }
    }

    private static void declare(EmbeddedStack stack) {
        Map<String, String> environment = Map.of(
                "PURI_BOOTSTRAP_SERVER", stack.bootstrapServers(),
                "PURI_SCHEMA_REGISTRY", stack.schemaRegistryUrl());
        String declarations = """
                namespaces:
                  own: {ownsTopic: true}
                collections:
                  - {name: every:tracks, prefix: evt, owners: [catalog], search: true}
                  - {name: own:tracks, prefix: own, owners: [catalog], search: true}
                """;
        for (CommandLineRun run : List.of(
                CommandLineRun.reading(environment, declarations, "collections", "apply", "-f", "-"),
                CommandLineRun.reading(environment, "", "topics", "create"))) {
            assertThat(run.status()).as(run.err()).isZero();
        }
    }

    private static EmbeddedStack start() {
        return EmbeddedStack.start(
                EmbeddedStack.Options.onFreePorts(data), TracksStack.findsNewTopicsSoon(), step -> {});
    }

    /** Returns the status of the resolver's answer; the indexer's agrees with it. */
    private int ask(EmbeddedStack stack, Sent sent) throws Exception {
        String query = "?wait=20s&at=" + sent.token();
        HttpResponse<String> answer = get(stack.resolverUrl() + "/v1/identities/" + sent.puri() + query);
        HttpResponse<String> found = get(stack.indexerUrl() + "/v1/search" + query + "&ref="
                + URLEncoder.encode(sent.puri().toString(), StandardCharsets.UTF_8));
        assertThat(answer.statusCode())
                .as("seed %d, %s: %s", seed, sent, answer.body())
                .isIn(200, 404, 410, 409);
        assertThat(found.statusCode())
                .as("seed %d, %s: %s, but %s", seed, sent, answer.body(), found.body())
                .isEqualTo(answer.statusCode() == 409 ? 409 : 200);
        return answer.statusCode();
    }

    private Set<Position> rejections(EmbeddedStack stack) throws Exception {
        Set<Position> positions = new HashSet<>();
        for (JsonNode each : JSON.readTree(
                        get(stack.resolverUrl() + "/v1/rejections?limit=1000").body())
                .get("rejections")) {
            positions.add(Position.parse(each.get("position").asText()));
        }
        return positions;
    }

    private HttpResponse<String> get(String uri) throws Exception {
        return client.send(
                HttpRequest.newBuilder(URI.create(uri))
                        .timeout(Duration.ofSeconds(60))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private void publish(EmbeddedStack stack, List<Sent> all) throws Exception {
        int schemaId = schemaId(stack);
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", stack.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            int partitions = producer.partitionsFor(Topics.EVENTS).size();
            Event first = new Event(
                    uuid(-1),
                    Puri.of("own", "tracks", "first"),
                    Instant.now(),
                    "test",
                    null,
                    null,
                    new Change.Created(uuid(-1), new Owner("catalog"), new Shard("s0"), null, Map.of()));
            producer.send(new ProducerRecord<>(
                    Topics.eventsTopicOf("own"), first.puri().toBytes(), encoded(first, schemaId)));
            await().atMost(Duration.ofSeconds(90))
                    .until(() -> get(stack.resolverUrl() + "/v1/identities/" + first.puri())
                                    .statusCode()
                            == 200);
            for (int i = 0; i < EVENTS; i++) {
                Event event = random.nextInt(8) == 0 && i > 0 ? history.get(random.nextInt(history.size())) : next();
                history.add(event);
                byte[] value = encoded(event, schemaId);
                byte[] key = event.puri().toBytes();
                String topic = topic(event.puri());
                ProducerRecord<byte[], byte[]> record = switch (random.nextInt(20)) {
                    case 0 -> new ProducerRecord<>(topic, anyPartition(topic, event.puri(), partitions), key, value);
                    case 1 -> new ProducerRecord<>(topic, upperCase(event.puri()), value);
                    case 2 -> new ProducerRecord<>(topic, null, value);
                    case 3 -> new ProducerRecord<>(topic, key, new byte[] {0, 0x7f, 0, 0, 0, 1});
                    default -> new ProducerRecord<>(topic, key, value);
                };
                RecordMetadata place = producer.send(record).get();
                all.add(new Sent(
                        new Position(place.topic(), place.partition(), place.offset()),
                        event.puri(),
                        event.change().getClass().getSimpleName() + " in " + topic + " with key "
                                + (record.key() == null ? "none" : new String(record.key(), StandardCharsets.UTF_8))));
            }
        }
    }

    /** The name in a form that is not canonical. */
    private static byte[] upperCase(Puri puri) {
        return puri.toString().toUpperCase(Locale.ROOT).getBytes(StandardCharsets.UTF_8);
    }

    /** The id by which the events' schema is registered already. */
    private int schemaId(EmbeddedStack stack) throws Exception {
        JsonNode versions =
                JSON.readTree(get(stack.schemaRegistryUrl() + "/subjects/" + Topics.EVENTS + "-value/versions/latest")
                        .body());
        return versions.get("id").asInt();
    }

    private byte[] encoded(Event event, int schemaId) {
        return writer.encode(schemaId, EventAvro.toAvro(event));
    }

    private Event next() {
        int number = random.nextInt(NAMES);
        return event(name(number), change(number));
    }

    private Event event(Puri puri, Change change) {
        return new Event(
                uuid(random.nextInt()),
                puri,
                Instant.now(),
                "test",
                random.nextInt(12) == 0 ? uuid(random.nextInt(NAMES)) : null,
                random.nextInt(12) == 0 ? (long) random.nextInt(3) : null,
                change);
    }

    /** A third of the names are of a namespace that has its own topic. */
    private static Puri name(int number) {
        return Puri.of(number % 3 == 0 ? "own" : "every", "tracks", "t" + number);
    }

    /**
     * Whether its events are in several partitions of its namespace's topic. Which of them were answered is
     * remembered, and forgotten with a restart.
     */
    private static boolean isScattered(Puri puri) {
        return puri.equals(name(0));
    }

    /** Null for that of its key. */
    private @Nullable Integer anyPartition(String topic, Puri puri, int partitions) {
        return topic.equals(Topics.EVENTS) || isScattered(puri) ? random.nextInt(partitions) : null;
    }

    /** Returns the topic to publish to; in a twentieth of the calls it is not the topic of the namespace. */
    private String topic(Puri puri) {
        boolean isOwn = puri.namespace().equals("own") != (random.nextInt(20) == 0);
        return isOwn ? Topics.eventsTopicOf("own") : Topics.EVENTS;
    }

    private Change change(int number) {
        return switch (random.nextInt(12)) {
            case 0, 1, 2 -> created(number, null);
            case 3, 4 -> created(number, handle(number % 3 == 0 ? "own" : "evt"));
            case 5, 6 -> new Change.Moved(random.nextBoolean() ? null : owner(), new Shard("s" + random.nextInt(3)));
            case 7, 8 -> new Change.Described(Map.of("title", "title " + random.nextInt()));
            case 9 -> new Change.Merged(name(random.nextInt(NAMES)));
            case 10 -> new Change.Deleted();
            default -> new Change.Erased();
        };
    }

    private Change created(int number, Handle handle) {
        return new Change.Created(
                uuid(number * 7L + random.nextInt(2)), owner(), new Shard("s0"), handle, Map.of("title", "made"));
    }

    private Owner owner() {
        return new Owner(random.nextInt(20) == 0 ? "thief" : "catalog");
    }

    private Handle handle(String prefix) {
        handles++;
        char last = Handle.ALPHABET.charAt(random.nextBoolean() ? 0 : handles % 31);
        char before = Handle.ALPHABET.charAt(handles / 31 % 31);
        return new Handle((random.nextInt(20) == 0 ? "zzz_" : prefix + "_") + "1234567891234" + before + last);
    }

    private static UUID uuid(long low) {
        return new UUID(0x0198_0000_0000_7000L, 0x8000_0000_0000_0000L | low & 0x3FFF_FFFF_FFFFL);
    }
}
