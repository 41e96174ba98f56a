package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.cli.ImportScaleData.Holding;
import dev.puri.cli.ImportScaleData.Identity;
import dev.puri.cli.ImportScaleData.Target;
import dev.puri.schemas.log.Topics;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code puri import} of three PostgreSQL servers whose rows have conflicts of all kinds. The command is killed five
 * times, by SIGKILL at seeded points of its stages. Its result must be that of an import that was not interrupted.
 *
 * <p>{@code -Dpuri.import.rows=1000000} sets the number of rows, {@code -Dpuri.import.seed=SEED} the points of the
 * kills and the rows with conflicts.
 */
@Order(1)
class ImportScaleIT {
    private static final int ROWS = Integer.getInteger("puri.import.rows", 20_000);
    private static final long SEED = Long.getLong("puri.import.seed", 1);

    /** A load takes as many seconds as this, so that each of its kills comes in time. */
    private static final int LOAD_SECONDS = 6;

    private static final int RATE = ROWS / LOAD_SECONDS;
    private static final int LOAD_KILLS = 3;
    private static final int LOOK_UP_BATCH = 500;

    /** The batches that a killed load has published and not written down, and their size. */
    private static final int UNKNOWN_EVENTS = 5 * Math.min(2_500, RATE / 10);

    private static final Duration TIMEOUT = Duration.ofMinutes(3);

    /** Before it compares, a verification waits until the topology has processed the loaded rows. */
    private static final Duration LAG_TIMEOUT = Duration.ofMinutes(15);

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private static Path data;

    private static EmbeddedStack stack;
    private static Map<String, String> environment;
    private static ImportScaleData shards;

    private final Random random = new Random(SEED);

    @TempDir
    private Path folder;

    @BeforeAll
    static void start() throws Exception {
        stack = EmbeddedStack.start(EmbeddedStack.Options.onFreePorts(data), step -> {});
        environment = Map.of(
                "PURI_BOOTSTRAP_SERVER", stack.bootstrapServers(),
                "PURI_SCHEMA_REGISTRY", stack.schemaRegistryUrl(),
                "PURI_RESOLVER", stack.resolverUrl());
        shards = new ImportScaleData(ROWS / ImportScaleData.SHARDS, SEED);
    }

    @AfterAll
    static void stop() throws IOException {
        shards.close();
        stack.close();
    }

    @Test
    void anImportThatIsKilledFiveTimesEqualsAnUninterruptedOne() throws Exception {
        System.out.println("puri import of " + shards.rowCount() + " rows, killed 5 times, seed " + SEED);
        Target whole = new Target("whole", "whl");
        Target killed = new Target("killed", "kil");
        prepare(whole);
        prepare(killed);

        Path wholeFolder = Files.createDirectory(folder.resolve("whole"));
        Path wholeMapping = shards.mapping(whole, folder);
        plan(wholeMapping, wholeFolder);
        load(wholeFolder);
        verify(wholeFolder);
        assertThat(conflictsIn(wholeFolder)).as("seed " + SEED).isEqualTo(shards.expectedConflicts(whole));
        requireEqual(whole);

        Path killedFolder = Files.createDirectory(folder.resolve("killed"));
        Path killedMapping = shards.mapping(killed, folder);
        killAtLookUp(inputBatches(), "plan", "-f", killedMapping.toString(), "-d", killedFolder.toString());
        assertThat(killedFolder.resolve("plan")).doesNotExist();
        plan(killedMapping, killedFolder);
        long eventsBefore = eventCount();
        killLoads(killedFolder);
        load(killedFolder);
        long newRows = plannedRows(killedFolder) - shards.count(Holding.SAME);
        assertThat(eventCount() - eventsBefore)
                .as("events of a load that continues where it was killed, seed " + SEED)
                .isBetween(newRows, newRows + LOAD_KILLS * UNKNOWN_EVENTS);
        killAtLookUp(
                Math.toIntExact(plannedRows(killedFolder)) / LOOK_UP_BATCH,
                "verify",
                "-d",
                killedFolder.toString(),
                "--wait",
                String.valueOf(LAG_TIMEOUT.toSeconds()));
        assertThat(puri("import", "open", "-d", killedFolder.toString()).err())
                .contains("run first: puri import verify");
        verify(killedFolder);
        assertThat(conflictsIn(killedFolder)).as("seed " + SEED).isEqualTo(shards.expectedConflicts(killed));
        requireEqual(killed);

        aSecondRunChangesNothing(killedMapping, killedFolder);
        CommandLineRun open = puri("import", "open", "-d", killedFolder.toString());
        assertThat(open.out()).as(open.err()).contains("opened   killed:tracks");
    }

    private void aSecondRunChangesNothing(Path mapping, Path first) throws Exception {
        Path again = Files.createDirectory(folder.resolve("again"));
        long events = eventCount();
        JsonNode plan = plan(mapping, again);
        assertThat(plan.path("present")).isEqualTo(plan.path("rows"));
        assertThat(plan.path("rows").asLong()).isEqualTo(plannedRows(first));
        assertThat(again.resolve("plan/conflicts.ndjson"))
                .hasSameTextualContentAs(first.resolve("plan/conflicts.ndjson"));
        load(again);
        assertThat(eventCount()).isEqualTo(events);
    }

    /** Registers what the registry has before the import, and closes the collection for everybody else. */
    private void prepare(Target target) throws Exception {
        String declaration = "collections:\n  - {name: " + target.collection() + ", prefix: " + target.prefix()
                + ", owners: [" + ImportScaleData.OWNER + "], search: false";
        apply(declaration + "}\n");
        StringBuilder events = new StringBuilder();
        for (Identity identity : shards.holders(target)) {
            String[] parts = identity.text().split(" ");
            events.append(
                    "{\"type\":\"created\",\"puri\":\"%s\",\"uuid\":\"%s\",\"owner\":\"%s\",\"shard\":\"%s\",\"handle\":%s}\n"
                            .formatted(
                                    identity.puri(),
                                    parts[0],
                                    parts[1],
                                    parts[2],
                                    parts[3].equals("null") ? "null" : '"' + parts[3] + '"'));
        }
        CommandLineRun created = CommandLineRun.reading(environment, events.toString(), "publish", "-f", "-", "--wait");
        assertThat(created.status()).as(created.err()).isZero();
        apply(declaration + ", mode: IMPORT, importer: legacy}\n");
        await().atMost(Duration.ofMinutes(1)).until(() -> export(target).size() == shards.takenCount());
    }

    private static JsonNode plan(Path mapping, Path folder) {
        return stage(3, "plan", "-f", mapping.toString(), "-d", folder.toString());
    }

    private static void load(Path folder) {
        stage(0, "load", "-d", folder.toString());
    }

    private static void verify(Path folder) {
        JsonNode result =
                stage(0, "verify", "-d", folder.toString(), "--wait", String.valueOf(LAG_TIMEOUT.toSeconds()));
        assertThat(result.path("differences").asInt()).isZero();
    }

    private static JsonNode stage(int status, String... args) {
        List<String> all = new ArrayList<>(List.of("-o", "json", "import"));
        all.addAll(List.of(args));
        long start = System.nanoTime();
        CommandLineRun run = puri(all.toArray(String[]::new));
        assertThat(run.status()).as(run.err()).isEqualTo(status);
        JsonNode result = Json.parse(run.out());
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.printf(
                "import %s: %.1f s, %,.0f rows/s%n",
                args[0], seconds, result.path("rows").asLong() / seconds);
        return result;
    }

    /** Runs a stage in a process, and kills it when it has asked the resolver for a seeded number of batches. */
    private void killAtLookUp(int batches, String... args) throws Exception {
        int answered = random.nextInt(batches * 4 / 5);
        try (LookUpProxy proxy = new LookUpProxy(stack.resolverUrl(), answered);
                PuriProcess process = process(proxy.url(), args)) {
            assertThat(proxy.awaitUnanswered(LAG_TIMEOUT.toSeconds()))
                    .as(errors())
                    .isTrue();
            process.kill();
        }
        System.out.println("import " + args[0] + " was killed after look-up " + answered + " of " + batches);
    }

    /** Loads, and kills the process several times when it has loaded seeded numbers of rows. */
    private void killLoads(Path folder) throws Exception {
        long rows = plannedRows(folder);
        int[] points = random.ints(LOAD_KILLS, 0, Math.toIntExact(rows * 7 / 10))
                .sorted()
                .toArray();
        for (int point : points) {
            long before = loadedRows(folder);
            try (PuriProcess load =
                    process(stack.resolverUrl(), "load", "-d", folder.toString(), "--rate", String.valueOf(RATE))) {
                await().atMost(TIMEOUT)
                        .pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofMillis(5))
                        .until(() -> loadedRows(folder) > Math.max(before, point));
                load.kill();
            }
            long loaded = loadedRows(folder);
            System.out.println("import load was killed after row " + loaded + " of " + rows);
            assertThat(loaded).as("seed " + SEED).isLessThan(rows);
        }
    }

    private PuriProcess process(String resolver, String... args) throws IOException {
        List<String> all = new ArrayList<>(List.of("import"));
        all.addAll(List.of(args));
        all.addAll(List.of("--bootstrap-server", stack.bootstrapServers()));
        all.addAll(List.of("--schema-registry", stack.schemaRegistryUrl(), "--resolver", resolver));
        return new PuriProcess(folder.resolve("errors.txt"), all.toArray(String[]::new));
    }

    private String errors() throws IOException {
        return Files.readString(folder.resolve("errors.txt"));
    }

    private static int inputBatches() {
        return ImportScaleData.SHARDS * Math.ceilDiv(shards.rowCount() / ImportScaleData.SHARDS, LOOK_UP_BATCH);
    }

    private static long plannedRows(Path folder) throws IOException {
        return Json.parse(Files.readString(folder.resolve("plan/plan.json")))
                .path("rows")
                .asLong();
    }

    private static long loadedRows(Path folder) throws IOException {
        try {
            return Json.parse(Files.readString(folder.resolve("load.json")))
                    .path("rows")
                    .asLong();
        } catch (NoSuchFileException e) {
            return 0;
        }
    }

    private static List<String> conflictsIn(Path folder) throws IOException {
        return Files.readAllLines(folder.resolve("plan/conflicts.ndjson")).stream()
                .map(line -> ImportScaleData.conflict(Json.parse(line)))
                .toList();
    }

    /** Compares all rows of a collection with those that the import must make of the data. */
    private void requireEqual(Target target) throws Exception {
        Map<String, String> expected = shards.expectedRows(target);
        Map<String, String> registered = export(target);
        assertThat(registered).hasSameSizeAs(expected);
        // AssertJ would print a million rows.
        registered.forEach(
                (puri, text) -> assertThat(text).as(puri + ", seed " + SEED).isEqualTo(expected.get(puri)));
        System.out.println("compared " + registered.size() + " rows of " + target.collection());
    }

    private static Map<String, String> export(Target target) throws IOException {
        Map<String, String> rows = new HashMap<>();
        URI uri = URI.create(stack.resolverUrl() + "/v1/export?collection=" + target.collection());
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(uri.toURL().openStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonNode row = JSON.readTree(line);
                if (row.has("puri")) {
                    assertThat(row.path("status").asText()).isEqualTo("active");
                    assertThat(row.path("epoch").asInt()).isOne();
                    rows.put(
                            row.path("puri").asText(),
                            String.join(
                                    " ",
                                    row.path("uuid").asText(),
                                    row.path("owner").asText(),
                                    row.path("shard").asText(),
                                    row.hasNonNull("handle")
                                            ? row.path("handle").asText()
                                            : "null"));
                }
            }
        }
        return rows;
    }

    /** Returns the number of events in the log. */
    private static long eventCount() {
        Map<String, Object> properties = Map.of("bootstrap.servers", stack.bootstrapServers());
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(Topics.EVENTS).stream()
                    .map(info -> new TopicPartition(Topics.EVENTS, info.partition()))
                    .toList();
            return consumer.endOffsets(partitions).values().stream()
                    .mapToLong(end -> end)
                    .sum();
        }
    }

    private static void apply(String yaml) {
        CommandLineRun run = CommandLineRun.reading(environment, yaml, "collections", "apply", "-f", "-");
        assertThat(run.status()).as(run.err()).isZero();
    }

    private static CommandLineRun puri(String... args) {
        return CommandLineRun.of(environment, args);
    }
}
