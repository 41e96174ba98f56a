package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.schemas.log.Topics;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Refused events are listed, shown and replayed on a whole registry; each test has collections of its own. */
class RejectionsIT {
    @TempDir
    private static Path data;

    private static EmbeddedStack stack;
    private static Map<String, String> environment;

    @BeforeAll
    static void start() {
        stack = EmbeddedStack.start(
                EmbeddedStack.Options.onFreePorts(data), TracksStack.findsNewTopicsSoon(), step -> {});
        environment = Map.of(
                "PURI_BOOTSTRAP_SERVER", stack.bootstrapServers(),
                "PURI_SCHEMA_REGISTRY", stack.schemaRegistryUrl(),
                "PURI_RESOLVER", stack.resolverUrl(),
                "PURI_SEARCH", stack.indexerUrl());
    }

    @AfterAll
    static void stop() {
        stack.close();
    }

    @Test
    void aRefusedEventIsShownAsALineForPublish() {
        publish(created("shown:a:1", "catalog", "br-1"), created("shown:a:1", "catalog", "eu-1"));

        JsonNode shown = shown("--puri", "SHOWN:A:1", "--reason", "puri_taken", "--since", "1h");
        assertThat(shown.path("reason").asText()).isEqualTo("PURI_TAKEN");
        assertThat(shown.at("/holder/shard").asText()).isEqualTo("br-1");
        assertThat(shown.path("sha256").asText()).matches("[0-9a-f]{64}");
        assertThat(shown.path("inEventsTopic").asBoolean()).isTrue();
        assertThat(shown.at("/event/shard").asText()).isEqualTo("eu-1");
        assertThat(shown.at("/event/eventId").asText())
                .isEqualTo(shown.path("eventId").asText());
        assertThat(EventLineParserTest.parse(shown.path("event").toString())).isInstanceOf(EventLineParser.Valid.class);

        CommandLineRun text = puri(
                "", "rejections", "show", "--position", shown.path("position").asText());
        assertThat(text.status()).isZero();
        assertThat(text.out())
                .contains("reason       PURI_TAKEN", "event        {\"type\":\"created\",\"puri\":\"shown:a:1\"");

        for (String[] other :
                List.of(new String[] {"--until", "1h"}, new String[] {"--reason", "MALFORMED"}, new String[] {
                    "--position", "0-99999"
                })) {
            CommandLineRun none =
                    puri("", "rejections", "show", "--puri", "shown:a:1", other[0], other[1], "-o", "json");
            assertThat(none.status()).isEqualTo(ExitStatus.PARTLY);
            assertThat(none.out()).isEmpty();
            assertThat(none.err().strip()).isEqualTo("puri: no rejection matches");
            assertThat(puri("", "rejections", "list", "--puri", "shown:a:1", other[0], other[1], "-o", "json")
                            .out())
                    .isEmpty();
        }
    }

    @Test
    void bytesThatAreNoEventAreShownWithTheirHeaders() throws Exception {
        send("bytes:a:1", new byte[] {1, 2, (byte) 0xab}, new RecordHeader("traceparent", utf8("00-1f")));

        JsonNode shown = awaitShown("bytes:a:1");
        assertThat(shown.path("reason").asText()).isEqualTo("UNDECODABLE");
        assertThat(shown.path("length").asInt()).isEqualTo(3);
        assertThat(shown.path("bytes").binaryValue()).containsExactly(1, 2, 0xab);
        assertThat(shown.path("invalid").asText()).isNotBlank();
        assertThat(shown.path("headers").toString()).isEqualTo("[{\"name\":\"traceparent\",\"text\":\"00-1f\"}]");
        assertThat(puri("", "rejections", "show", "--puri", "bytes:a:1").out())
                .contains("bytes        0102ab", "header       traceparent: 00-1f");
    }

    @Test
    void refusalsOfAnErasedIdentityAreNotShown() {
        publish(created("gone:a:1", "catalog", "br-1"), created("gone:a:1", "catalog", "eu-1"));
        assertThat(shown("--puri", "gone:a:1").path("reason").asText()).isEqualTo("PURI_TAKEN");
        publish("{\"type\":\"merged\",\"puri\":\"gone:a:2\",\"into\":\"gone:a:1\"}");
        assertThat(shown("--puri", "gone:a:2").at("/event/into").asText()).isEqualTo("gone:a:1");

        publish("{\"type\":\"erased\",\"puri\":\"gone:a:1\"}");
        assertThat(puri("", "rejections", "show", "--puri", "gone:a:1").status())
                .isEqualTo(ExitStatus.PARTLY);
        assertThat(puri("", "rejections", "show", "--puri", "gone:a:2").status())
                .as("an event that names the erased identity")
                .isEqualTo(ExitStatus.PARTLY);
    }

    @Test
    void aReplayAppliesWhatIsAllowedNowAndASecondOneNothing() {
        apply("collections:\n  - {name: again:a, owners: [rights]}\n");
        publish(created("again:a:1", "catalog", "br-1"), created("again:a:2", "catalog", "br-1"));
        publish(created("again:a:1", "rights", "br-9"));
        String[] filter = {"--reason", "NOT_ALLOWED", "--since", "1h"};
        apply("collections:\n  - {name: again:a}\n");

        CommandLineRun dryRun = puri("", words(List.of("-o", "json", "rejections", "replay"), filter));
        assertThat(dryRun.status()).as(dryRun.err()).isZero();
        // The pURIs are in different partitions, whose refusals have no order.
        assertThat(actions(dryRun)).containsExactlyInAnyOrder("again:a:1 superseded", "again:a:2 replay");
        assertThat(dryRun.err()).contains("1 of 2 events would be replayed; nothing was published");
        assertThat(puri("", "resolve", "again:a:2").status()).isEqualTo(ExitStatus.PARTLY);

        CommandLineRun replay = puri("", words(List.of("-o", "json", "rejections", "replay", "--yes"), filter));
        assertThat(replay.status()).as(replay.err()).isZero();
        assertThat(replay.outLines().getLast())
                .isEqualTo("{\"replayed\":1,\"applied\":1,\"unchanged\":0,\"refused\":0}");
        Awaitility.await()
                .untilAsserted(() ->
                        assertThat(puri("", "resolve", "again:a:2").status()).isZero());
        assertThat(puri("", "resolve", "again:a:1").out()).contains("br-9");

        CommandLineRun second = puri("", words(List.of("-o", "json", "rejections", "replay", "--yes"), filter));
        assertThat(actions(second)).containsExactlyInAnyOrder("again:a:1 superseded", "again:a:2 accepted");
        assertThat(second.outLines().getLast()).startsWith("{\"replayed\":0,");

        CommandLineRun forced =
                puri("", "-o", "json", "rejections", "replay", "--puri", "again:a:1", "--superseded", "--yes");
        assertThat(forced.status()).isEqualTo(ExitStatus.PARTLY);
        assertThat(forced.err()).contains("refused again, PURI_TAKEN");
        assertThat(actions(puri("", "-o", "json", "rejections", "replay", "--puri", "again:a:1", "--superseded")))
                .containsExactly("again:a:1 refused again", "again:a:1 replay");
    }

    @Test
    void eventsInTheOwnTopicThatANamespaceGotLaterCountInAReplay() {
        publish(created("gotown:a:1", "catalog", "br-1"), created("gotown:a:2", "catalog", "br-1"));
        apply("namespaces:\n  gotown: {mode: READ_ONLY}\n");
        CommandLineRun refused = publish(moved("gotown:a:1", "eu-1"), moved("gotown:a:2", "eu-1"));
        assertThat(refused.err()).contains("NOT_WRITABLE");
        apply("namespaces:\n  gotown: {ownsTopic: true}\n");
        CommandLineRun create = puri("", "topics", "create");
        assertThat(create.status()).as(create.err()).isZero();
        CommandLineRun newer = publish(moved("gotown:a:1", "us-1"));
        assertThat(newer.status()).as(newer.err()).isZero();

        String[] replay = {"-o", "json", "rejections", "replay", "--yes", "--reason", "NOT_WRITABLE", "--since", "1h"};
        CommandLineRun first = puri("", replay);
        assertThat(actions(first)).containsExactlyInAnyOrder("gotown:a:1 superseded", "gotown:a:2 replay");
        assertThat(first.outLines().getLast())
                .isEqualTo("{\"replayed\":1,\"applied\":1,\"unchanged\":0,\"refused\":0}");
        Awaitility.await()
                .untilAsserted(() -> assertThat(
                                puri("", "resolve", "gotown:a:1", "gotown:a:2").out())
                        .contains("us-1", "eu-1"));

        CommandLineRun second = puri("", replay);
        assertThat(actions(second)).containsExactlyInAnyOrder("gotown:a:1 superseded", "gotown:a:2 accepted");
        assertThat(second.outLines().getLast()).startsWith("{\"replayed\":0,");
    }

    @Test
    void aRecordThatIsNoEventIsNotReplayable() throws Exception {
        send("noevent:a:1", new byte[] {1, 2});
        awaitShown("noevent:a:1");

        CommandLineRun replay = puri("", "-o", "json", "rejections", "replay", "--puri", "noevent:a:1", "--yes");
        assertThat(replay.status()).isEqualTo(ExitStatus.PARTLY);
        assertThat(actions(replay)).containsExactly("noevent:a:1 not replayable");
    }

    @Test
    void anEmptyFilterIsAMistake() {
        CommandLineRun run = puri("", "rejections", "replay", "--yes");
        assertThat(run.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(run.err()).contains("or --all of them");
        assertThat(puri("", "rejections", "replay", "--all", "--puri", "a:b:c").status())
                .isEqualTo(ExitStatus.USAGE);
    }

    /** Returns pURI and action of each planned step. */
    private static List<String> actions(CommandLineRun run) {
        return run.outLines().stream()
                .map(Json::parse)
                .filter(step -> step.has("action"))
                .map(step ->
                        step.path("puri").asText() + " " + step.path("action").asText())
                .toList();
    }

    private static void apply(String yaml) {
        CommandLineRun run = puri(yaml, "collections", "apply", "-f", "-");
        assertThat(run.status()).as(run.err()).isZero();
    }

    private static JsonNode awaitShown(String puri) {
        Awaitility.await()
                .until(() -> !puri("", "rejections", "list", "--puri", puri, "-o", "json")
                        .out()
                        .isEmpty());
        return shown("--puri", puri);
    }

    /** Shows the only refused event that the filter selects. */
    private static JsonNode shown(String... filter) {
        CommandLineRun run = puri("", words(List.of("rejections", "show", "-o", "json"), filter));
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.outLines()).hasSize(1);
        return Json.parse(run.out());
    }

    private static void send(String key, byte[] value, RecordHeader... headers) throws Exception {
        try (Producer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", stack.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(Topics.EVENTS, null, utf8(key), value, List.of(headers)))
                    .get(30, TimeUnit.SECONDS);
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static CommandLineRun publish(String... lines) {
        return puri(String.join("\n", lines), "-o", "json", "publish", "-f", "-", "--wait");
    }

    private static String created(String puri, String owner, String shard) {
        return "{\"type\":\"created\",\"puri\":\"" + puri + "\",\"owner\":\"" + owner + "\",\"shard\":\"" + shard
                + "\"}";
    }

    private static String moved(String puri, String shard) {
        return "{\"type\":\"moved\",\"puri\":\"" + puri + "\",\"shard\":\"" + shard + "\"}";
    }

    private static String[] words(List<String> first, String... others) {
        List<String> words = new ArrayList<>(first);
        words.addAll(List.of(others));
        return words.toArray(String[]::new);
    }

    private static CommandLineRun puri(String input, String... args) {
        return CommandLineRun.reading(environment, input, args);
    }
}
