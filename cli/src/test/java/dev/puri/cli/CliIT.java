package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.schemas.serde.Compatibility;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every command against the whole registry; each test has collections of its own. */
@Order(2)
class CliIT {
    @TempDir
    private static Path data;

    private static EmbeddedStack stack;
    private static Map<String, String> environment;

    @BeforeAll
    static void start() {
        stack = EmbeddedStack.start(EmbeddedStack.Options.onFreePorts(data), step -> {});
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
    void publishWithWaitCountsTheResultOfEachLine() {
        String first = created("sums:a:1", "br-1");
        String again = "{\"eventId\":\"0197c3a2-5b1e-7c4d-8e9f-0a1b2c3d4e5f\","
                + created("sums:a:2", "us-1").substring(1);
        CommandLineRun run = publish(
                first,
                again,
                "",
                "no json",
                again,
                created("sums:a:1", "eu-1"),
                "{\"type\":\"moved\",\"puri\":\"sums:a:none\",\"shard\":\"eu-1\"}",
                "{\"type\":\"created\",\"puri\":\"sums:a:3\",\"shard\":\"eu-1\"}",
                "{\"type\":\"deleted\",\"puri\":\"Sums:A:2\"}");
        assertThat(run.out().strip())
                .isEqualTo("{\"published\":6,\"applied\":3,\"unchanged\":1,\"refused\":2,\"malformed\":2}");
        assertThat(run.status()).isEqualTo(3);
        assertThat(run.errLines())
                .containsExactlyInAnyOrder(
                        "line 4: not JSON: Unrecognized token 'no': was expecting (JSON String, Number, Array, Object"
                                + " or token 'null', 'true' or 'false'), at column 1",
                        "line 8: owner: missing",
                        "line 6: refused, PURI_TAKEN: sums:a:1 is held by owner catalog on shard br-1",
                        "line 7: refused, UNKNOWN_PURI: nothing was created under sums:a:none");
    }

    @Test
    void status0AndNoMessageIfAllEventsAreApplied() {
        CommandLineRun run = publish(created("fine:a:1", "br-1"), created("fine:a:2", "br-1"));
        assertThat(run)
                .isEqualTo(new CommandLineRun(
                        0,
                        "{\"published\":2,\"applied\":2,\"unchanged\":0,\"refused\":0,\"malformed\":0}"
                                + System.lineSeparator(),
                        ""));
    }

    @Test
    void withoutWaitTheSummaryHasNoOutcomes() {
        CommandLineRun run = puri(created("quick:a:1", "br-1"), "-o", "json", "publish", "-f", "-");
        assertThat(run.out().strip()).isEqualTo("{\"published\":1,\"malformed\":0}");
        assertThat(run.status()).isZero();
    }

    @Test
    void echoedEventsHaveMintedHandlesAndCanBePublishedAgain(@TempDir Path folder) throws IOException {
        apply("collections:\n  - {name: echo:a, prefix: ech}\n");
        String lines = created("echo:a:1", "br-1") + "\n" + created("echo:b:1", "br-1");
        CommandLineRun run = puri(lines, "-o", "json", "publish", "-f", "-", "--wait", "--echo");
        assertThat(run.outLines()).hasSize(2);
        assertThat(Json.parse(run.outLines().get(0)).path("handle").asText()).matches("ech_.{15}");
        assertThat(Json.parse(run.outLines().get(1)).path("handle").isNull()).isTrue();
        assertThat(run.err().strip())
                .isEqualTo("{\"published\":2,\"applied\":2,\"unchanged\":0,\"refused\":0,\"malformed\":0}");

        Path echoed = Files.writeString(folder.resolve("echoed.jsonl"), run.out());
        CommandLineRun again = puri("", "-o", "json", "publish", "-f", echoed.toString(), "--wait");
        assertThat(again.out().strip())
                .isEqualTo("{\"published\":2,\"applied\":0,\"unchanged\":2,\"refused\":0,\"malformed\":0}");
        assertThat(again.status()).isZero();
    }

    @Test
    void moreEventsThanPermitsAreAllSettled(@TempDir Path folder) throws IOException {
        int count = Publication.MAX_UNSETTLED + 5_000;
        Path file = folder.resolve("many.jsonl");
        Files.write(file, (Iterable<String>)
                IntStream.range(0, count).mapToObj(i -> created("many:a:" + i, "br-1"))::iterator);
        CommandLineRun run = puri("", "-o", "json", "publish", "-f", file.toString(), "--wait");
        assertThat(run.out().strip())
                .isEqualTo("{\"published\":" + count + ",\"applied\":" + count
                        + ",\"unchanged\":0,\"refused\":0,\"malformed\":0}");
        assertThat(run.status()).isZero();
    }

    @Test
    void anEventTooLargeForTheBrokerIsMalformedAndTheOthersArePublished() {
        String title = "x".repeat(2 << 20);
        String large = "{\"type\":\"described\",\"puri\":\"large:a:1\",\"attributes\":{\"t\":\"" + title + "\"}}";
        CommandLineRun run = publish(large, created("large:a:2", "br-1"));
        assertThat(run.out().strip())
                .isEqualTo("{\"published\":1,\"applied\":1,\"unchanged\":0,\"refused\":0,\"malformed\":1}");
        assertThat(run.errLines()).singleElement().asString().startsWith("line 1: the event is too large");
        assertThat(run.status()).isEqualTo(3);
    }

    @Test
    void aMixedBatchIsResolvedInOrderAndUnknownReferencesAreStatus3() {
        apply("collections:\n  - {name: mixed:a, prefix: mix}\n");
        CommandLineRun published = puri(
                created("mixed:a:1", "br-1") + "\n" + created("mixed:a:2", "eu-1"),
                "publish",
                "-f",
                "-",
                "--wait",
                "--echo");
        String handle = Json.parse(published.outLines().get(1)).path("handle").asText();
        awaitFound("mixed:a:1", handle);

        CommandLineRun all = puri("", "resolve", "MIXED:A:1", handle, "--group-by", "shard");
        assertThat(all.status()).isZero();
        assertThat(all.outLines().get(0)).matches("REF +VERDICT +SHARD +OWNER +UUID +HANDLE +NOTE");
        assertThat(all.outLines().get(1)).matches("MIXED:A:1 +found +br-1 +catalog .*");
        assertThat(all.outLines().get(2)).startsWith(handle).contains("found", "eu-1");
        assertThat(all.outLines().subList(3, 5)).containsExactly("br-1: [0]", "eu-1: [1]");

        CommandLineRun some = puri("", "resolve", "mixed:a:1", "mixed:a:none", "nonsense", "-o", "json");
        assertThat(some.status()).isEqualTo(3);
        JsonNode results = Json.parse(some.out()).path("results");
        assertThat(results.findValuesAsText("verdict")).containsExactly("found", "unknown", "malformed");
    }

    @Test
    void searchFindsObjectsOfAllShardsAndListsThemWithoutWords() {
        apply("collections:\n  - {name: sought:a, prefix: sga, search: true}\n  - {name: sought:b, search: true}\n");
        publish(
                described("sought:a:1", "br-1", "Águas de Março"),
                described("sought:a:2", "us-1", "Nightcall"),
                described("sought:b:1", "eu-1", "Close the gate (águas)"));
        await().atMost(Duration.ofSeconds(30))
                .until(() -> found("search", "--namespace", "sought").size() == 3);

        assertThat(found("search", "aguas", "marco")).containsExactly("sought:a:1");
        assertThat(found("search", "AGUAS")).containsExactlyInAnyOrder("sought:a:1", "sought:b:1");
        assertThat(found("search", "aguas", "--shard", "eu-1")).containsExactly("sought:b:1");
        assertThat(found("search", "nightcal", "--collection", "sought:b")).isEmpty();
        assertThat(found("search", "--collection", "sought:a", "--order", "oldest"))
                .containsExactly("sought:a:1", "sought:a:2");

        CommandLineRun page = puri("", "search", "--namespace", "sought", "--order", "oldest", "--limit", "2");
        assertThat(page.outLines().get(0)).matches("PURI +SHARD +OWNER +HANDLE +TEXT");
        assertThat(page.outLines().get(1)).matches("sought:a:1 +br-1 +catalog +sga_.{15} +title=Águas de Março");
        assertThat(page.err().strip()).matches("puri: 2 of 3; for more results, repeat the search with --cursor \\S+");
        String cursor = page.err().strip().replaceAll(".* ", "");
        assertThat(found("search", "--namespace", "sought", "--order", "oldest", "--limit", "2", "--cursor", cursor))
                .containsExactly("sought:b:1");

        CommandLineRun wrong = puri("", "search", "--order", "sideways");
        assertThat(wrong.status()).isEqualTo(2);
        assertThat(wrong.err()).contains("/v1/search answered 400").contains("newest or oldest");
    }

    @Test
    void aRebuiltIndexMatchesItsTopics() {
        publish(created("again:a:1", "br-1"));
        await().atMost(Duration.ofSeconds(30))
                .until(() -> found("search", "--namespace", "again").size() == 1);
        CommandLineRun reindex = puri("", "search", "reindex", "-o", "json");
        assertThat(reindex.status()).as(reindex.err()).isZero();
        assertThat(Json.parse(reindex.out()).path("state").asText()).isEqualTo("done");
        assertThat(found("search", "--namespace", "again")).containsExactly("again:a:1");

        CommandLineRun verify = puri("", "search", "verify");
        assertThat(verify.status()).as(verify.out() + verify.err()).isZero();
        assertThat(verify.out()).isEmpty();
        assertThat(verify.err())
                .matches("puri: [1-9]\\d* identities and \\d+ documents compared; 0 missing, 0 ghost, 0 differs\\R");
    }

    @Test
    void aRebuiltTableHasTheRowsOfItsTopic() {
        publish(created("again:t:1", "br-1"));

        CommandLineRun rebuild = puri("", "rebuild", "table", "-o", "json");

        assertThat(rebuild.status()).as(rebuild.err()).isZero();
        assertThat(Json.parse(rebuild.out()).path("state").asText()).isEqualTo("done");
        assertThat(puri("", "resolve", "again:t:1").status()).isZero();
        assertThat(puri("", "rebuild").status()).isEqualTo(2);
        CommandLineRun index = puri("", "rebuild", "index", "-o", "json");
        assertThat(index.status()).as(index.err()).isZero();
    }

    @Test
    void declarationsAreWrittenOnceListedAndProtectedFromConflicts() {
        assertThat(apply("collections:\n  - {name: decl:a, prefix: dcl, owners: [x]}\n")
                        .outLines())
                .containsExactly("declared   decl:a");
        assertThat(apply("collections:\n  - {name: decl:a, prefix: dcl, owners: [x]}\n")
                        .outLines())
                .containsExactly("unchanged  1");

        CommandLineRun conflict =
                puri("collections:\n  - {name: decl:b, prefix: dcl}\n", "collections", "apply", "-f", "-");
        assertThat(conflict.status()).isEqualTo(1);
        assertThat(conflict.out()).isEmpty();
        assertThat(conflict.err()).contains("decl:b: prefix: dcl belongs to decl:a");

        CommandLineRun list = puri("", "collections", "list", "-o", "json");
        assertThat(list.outLines())
                .contains(
                        "{\"name\":\"decl:a\",\"prefix\":\"dcl\",\"owners\":[\"x\"],\"search\":false,\"public\":false,"
                                + "\"description\":\"\",\"retired\":false,\"mode\":\"READ_WRITE\"}");
        assertThat(puri("", "mint", "decl:a").out()).contains("  dcl_");
        CommandLineRun unknown = puri("", "mint", "decl:b");
        assertThat(unknown.status()).isEqualTo(1);
        assertThat(unknown.err()).contains("decl:b is not declared");
    }

    @Test
    void anImportClosesACollectionToOthersUntilItIsOpened() {
        assertThat(apply("collections:\n  - {name: moved:a, mode: IMPORT, importer: legacy}\n")
                        .outLines())
                .containsExactly("declared   moved:a  (mode READ_WRITE -> IMPORT by legacy)");
        assertThat(puri("", "collections", "list").outLines())
                .anySatisfy(line -> assertThat(line).startsWith("moved:a ").contains(" IMPORT by legacy"));
        assertThat(puri("", "collections", "list", "-o", "json").outLines())
                .anySatisfy(line -> assertThat(line)
                        .startsWith("{\"name\":\"moved:a\"")
                        .endsWith("\"mode\":\"IMPORT\",\"importer\":\"legacy\"}"));

        CommandLineRun stranger = puri(created("moved:a:1", "br-1") + "\n", "publish", "-f", "-", "--wait");
        assertThat(stranger.status()).as(stranger.err()).isEqualTo(3);
        assertThat(stranger.out() + stranger.err())
                .contains("NOT_WRITABLE")
                .contains("accepts events of the source legacy, not of puri-cli");
        CommandLineRun unknown = puri("", "resolve", "moved:a:1", "-o", "json");
        assertThat(unknown.out()).contains("\"verdict\":\"unknown\"").contains("\"importing\":true");
        assertThat(puri("", "resolve", "moved:a:1").out()).contains("may still be imported");
        String imported = created("moved:a:1", "br-1").replace("{", "{\"source\":\"legacy\",");
        assertThat(publish(imported).status()).isZero();

        assertThat(apply("collections:\n  - {name: moved:a}\n").outLines())
                .containsExactly("declared   moved:a  (mode IMPORT by legacy -> READ_WRITE)");
        assertThat(publish(created("moved:a:2", "br-1")).status()).isZero();
    }

    @Test
    void rejectionsAreListedByPuriWithTheirHolder() {
        publish(created("rej:a:1", "br-1"), created("rej:a:1", "eu-1"), created("rej:a:2", "us-1"));
        CommandLineRun run = puri("", "rejections", "list", "--puri", "REJ:A:1", "-o", "json");
        assertThat(run.outLines()).hasSize(1);
        JsonNode rejection = Json.parse(run.out());
        assertThat(rejection.path("reason").asText()).isEqualTo("PURI_TAKEN");
        assertThat(rejection.path("puri").asText()).isEqualTo("rej:a:1");
        assertThat(rejection.at("/holder/owner").asText()).isEqualTo("catalog");
        assertThat(rejection.at("/holder/shard").asText()).isEqualTo("br-1");
        assertThat(puri("", "rejections", "list", "--puri", "rej:a:2").outLines())
                .as("the heading alone")
                .hasSize(1);
        assertThat(puri("", "rejections", "list", "-n", "1", "-o", "json").outLines())
                .hasSize(1);
    }

    @Test
    void existingTopicsAreKeptAndCorrect() {
        CommandLineRun create = puri("", "topics", "create");
        assertThat(create.status()).isZero();
        assertThat(create.outLines()).hasSize(6).allMatch(line -> line.startsWith("exists   puri."));
        CommandLineRun check = puri("", "topics", "check");
        assertThat(check.status()).as(check.err()).isZero();
        assertThat(check.out()).isEmpty();
        assertThat(check.err()).matches("puri: all \\d+ topics are correct\\R");
        CommandLineRun other = puri("", "topics", "create", "--partitions", "4");
        assertThat(other.status()).isEqualTo(1);
        assertThat(other.err()).contains("has 8 partitions, not 4");
        assertThat(puri("", "topics", "list").out())
                .contains("puri.events.v1")
                .contains("puri.collections.v1")
                .doesNotContain("changelog");
    }

    @Test
    void topicsCheckFindsAChangedCompatibility() {
        try (ConfluentSchemaRegistry registry = registry()) {
            for (String topic : List.of("puri.events.v1", "puri.collections.v1")) {
                for (Compatibility level : List.of(Compatibility.NONE, Compatibility.BACKWARD)) {
                    registry.setCompatibility(topic + "-value", level);
                    CommandLineRun check = puri("", "topics", "check");
                    assertThat(check.status()).isEqualTo(1);
                    assertThat(check.errLines())
                            .singleElement()
                            .asString()
                            .startsWith("puri: the subject " + topic + "-value has the compatibility " + level
                                    + " and must have FULL_TRANSITIVE")
                            .endsWith("set it with puri topics create");
                    assertThat(puri("", "topics", "create").status()).isZero();
                    assertThat(puri("", "topics", "check").status()).isZero();
                }
            }
        }
    }

    @Test
    void topicsCheckFindsAConfigWithWhichTopicsAreNotCreated() throws Exception {
        assertThat(puri("", "topics", "check").status()).isZero();
        setDeleteDelay(AlterConfigOp.OpType.SET);
        try {
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> puri("", "topics", "check").status() == 1);
            assertThat(puri("", "topics", "check").errLines())
                    .singleElement()
                    .asString()
                    .startsWith("puri: puri.documents.v1 has file.delete.delay.ms=86400000")
                    .endsWith("--alter --topic puri.documents.v1 --delete-config file.delete.delay.ms");
            assertThat(puri("", "topics", "create").status()).isZero();
        } finally {
            setDeleteDelay(AlterConfigOp.OpType.DELETE);
        }
        await().atMost(Duration.ofSeconds(60))
                .until(() -> puri("", "topics", "check").status() == 0);
    }

    private static void setDeleteDelay(AlterConfigOp.OpType operation) throws Exception {
        AlterConfigOp change = new AlterConfigOp(new ConfigEntry("file.delete.delay.ms", "86400000"), operation);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", stack.bootstrapServers()))) {
            admin.incrementalAlterConfigs(
                            Map.of(new ConfigResource(ConfigResource.Type.TOPIC, "puri.documents.v1"), List.of(change)))
                    .all()
                    .get();
        }
    }

    private static ConfluentSchemaRegistry registry() {
        return ConfluentSchemaRegistry.create(Map.of("schema.registry.url", stack.schemaRegistryUrl()));
    }

    @Test
    void anUnreadableDeclarationIsReportedAndRepairedAndTheOthersStayUsable() throws Exception {
        apply("collections:\n  - {name: whole:a, prefix: wha}\n");
        long offset = poison("broken:a", new byte[] {1, 2, 3, 4, 5});
        try {
            String place = "puri.collections.v1-0 at offset " + offset + " (key \"broken:a\")";
            CommandLineRun list = puri("", "collections", "list", "-o", "json");
            assertThat(list.status()).isZero();
            assertThat(list.out()).contains("\"whole:a\"");
            assertThat(list.err())
                    .startsWith("puri: warning: 1 record of the collections topic cannot be decoded and is skipped:")
                    .containsOnlyOnce(place);
            assertThat(puri("", "mint", "whole:a").out()).contains("  wha_");
            assertThat(publish(created("whole:a:1", "br-1")).status()).isZero();
            assertThat(apply("collections:\n  - {name: whole:a, prefix: wha, search: true}\n")
                            .outLines())
                    .containsExactly("declared   whole:a");

            String wanted = "collections:\n  - {name: broken:a, prefix: brk}\n  - {name: whole:b, prefix: whb}\n";
            CommandLineRun refused = puri(wanted, "collections", "apply", "-f", "-");
            assertThat(refused.status()).isEqualTo(1);
            assertThat(refused.err())
                    .contains("nothing was written")
                    .contains(
                            "whole:b: prefix: no new prefix can be declared while the record in puri.collections.v1-0")
                    .contains("puri collections repair");

            CommandLineRun plan = puri("", "collections", "repair");
            assertThat(plan.outLines())
                    .containsExactly("would replace the record with the key \"broken:a\" in puri.collections.v1-0 at"
                            + " offset " + offset + " by a tombstone");
            assertThat(plan.err())
                    .contains("nothing was written; use --yes to write these records")
                    .contains("releases the prefix");

            CommandLineRun repair = puri(wanted, "collections", "repair", "-f", "-", "--yes", "-o", "json");
            assertThat(repair.status()).as(repair.err()).isZero();
            assertThat(Json.parse(repair.out()).at("/write/prefix").asText()).isEqualTo("brk");
            assertThat(puri("", "collections", "list").err()).isEmpty();
            assertThat(apply(wanted).outLines()).containsExactly("declared   whole:b", "unchanged  1");
            assertThat(puri("", "collections", "repair").err().strip()).isEqualTo("puri: there is nothing to repair");
        } finally {
            poison("broken:a", null);
        }
    }

    private static long poison(String key, byte @Nullable [] value) throws Exception {
        try (Producer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", stack.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            return producer.send(
                            new ProducerRecord<>("puri.collections.v1", key.getBytes(StandardCharsets.UTF_8), value))
                    .get(30, TimeUnit.SECONDS)
                    .offset();
        }
    }

    @Test
    void waitsForABrokerThatAcceptsConnectionsButDoesNotRespond() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String broker = "127.0.0.1:" + silent.getLocalPort();
            CommandLineRun publish = puri(
                    created("far:a:1", "br-1"),
                    "publish",
                    "-f",
                    "-",
                    "--timeout",
                    "3",
                    "--bootstrap-server",
                    broker,
                    "--command-config",
                    impatient().toString());
            assertThat(publish.status()).isEqualTo(1);
            assertThat(publish.errLines().getFirst())
                    .startsWith("puri: waiting for the declared collections: the broker at " + broker + " listens");
            assertThat(publish.errLines().getLast())
                    .startsWith("puri: the broker at " + broker + " listens but did not answer in time");
            assertThat(publish.err()).doesNotContain("puri up");

            CommandLineRun topics = puri(
                    "",
                    "topics",
                    "list",
                    "--bootstrap-server",
                    broker,
                    "--command-config",
                    impatient().toString());
            assertThat(topics.status()).isEqualTo(1);
            assertThat(topics.err())
                    .contains("listens but did not answer in time")
                    .doesNotContain("puri up");
        }
    }

    @Test
    void anUnreachableBrokerIsStatus1WithinTheTimeout() throws IOException {
        String nobody = "127.0.0.1:" + closedPort();
        for (String[] args : List.of(
                new String[] {"publish", "-f", "-"},
                new String[] {"collections", "list"},
                new String[] {"topics", "check"},
                new String[] {"rejections", "list"})) {
            List<String> all = new ArrayList<>(List.of(args));
            all.add("--bootstrap-server");
            all.add(nobody);
            all.add("--command-config");
            all.add(impatient().toString());
            CommandLineRun run = puri(created("far:a:1", "br-1"), all.toArray(String[]::new));
            assertThat(run.status()).as(String.join(" ", args)).isEqualTo(1);
            assertThat(run.out()).isEmpty();
            assertThat(run.err())
                    .startsWith("puri: ")
                    .contains("start one with puri up")
                    .doesNotContain("\tat ", "puri: waiting");
        }
    }

    @Test
    void anUnreachableResolverOrSchemaRegistryIsNamedWithStatus1() throws IOException {
        String nobody = "http://127.0.0.1:" + closedPort();
        CommandLineRun resolve = puri("", "resolve", "a:b:c", "--resolver", nobody);
        assertThat(resolve.status()).isEqualTo(1);
        assertThat(resolve.err()).startsWith("puri: no resolver answers at " + nobody);
        CommandLineRun search = puri("", "search", "--search", nobody);
        assertThat(search.status()).isEqualTo(1);
        assertThat(search.err()).startsWith("puri: no search indexer answers at " + nobody);

        Path impatient = Files.writeString(data.resolve("registry.properties"), "max.retries=1\nretries.wait.ms=10\n");
        CommandLineRun publish = puri(
                created("far:a:2", "br-1"),
                "publish",
                "-f",
                "-",
                "--schema-registry",
                nobody,
                "--command-config",
                impatient.toString());
        assertThat(publish.status()).isEqualTo(1);
        assertThat(publish.err()).contains(nobody);
    }

    private static Path impatient() throws IOException {
        return Files.writeString(
                data.resolve("impatient.properties"), "default.api.timeout.ms=2000\nrequest.timeout.ms=1000\n");
    }

    private static int closedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void awaitFound(String... refs) {
        List<String> args = new ArrayList<>(List.of("resolve"));
        args.addAll(List.of(refs));
        await().atMost(Duration.ofSeconds(30))
                .until(() -> puri("", args.toArray(String[]::new)).status() == 0);
    }

    private static CommandLineRun apply(String yaml) {
        CommandLineRun run = puri(yaml, "collections", "apply", "-f", "-");
        assertThat(run.status()).as(run.err()).isZero();
        return run;
    }

    private static CommandLineRun publish(String... lines) {
        String input = List.of(lines).stream().collect(Collectors.joining("\n"));
        return puri(input, "-o", "json", "publish", "-f", "-", "--wait");
    }

    private static List<String> found(String... args) {
        List<String> all = new ArrayList<>(List.of(args));
        all.addAll(List.of("-o", "json"));
        CommandLineRun run = puri("", all.toArray(String[]::new));
        assertThat(run.status()).as(run.err()).isZero();
        return Json.parse(run.out()).path("results").findValuesAsText("puri");
    }

    private static String described(String puri, String shard, String title) {
        String line = created(puri, shard);
        return line.substring(0, line.length() - 1) + ",\"attributes\":{\"title\":\"" + title + "\"}}";
    }

    private static String created(String puri, String shard) {
        return "{\"type\":\"created\",\"puri\":\"" + puri + "\",\"owner\":\"catalog\",\"shard\":\"" + shard + "\"}";
    }

    private static CommandLineRun puri(String input, String... args) {
        return CommandLineRun.reading(environment, input, args);
    }
}
