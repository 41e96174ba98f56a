package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.ServerProcess;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Copies of a resolver's rows by exports and changes, while the topic is written and every process is killed. Runs at
 * the same time as other classes, but its tests run one after another.
 */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
final class ReplicaIT {
    private static final long SEED = Long.getLong("puri.replica.seed", System.nanoTime());
    private static final int PARTITIONS = 3;
    private static final int NAMES = 20_000;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Pattern COMPLETE = Pattern.compile("The table is complete");
    private static final Path EXAMPLES = Path.of("..", "examples", "replica");
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Random random = new Random(SEED);
    private final HttpClient http = HttpClient.newHttpClient();

    @TempDir
    private Path folder;

    private RestartableBroker broker;
    private RememberedTopic topic;
    private URI resolverUri;
    private @Nullable ServerProcess resolver;

    @BeforeEach
    void startBroker() throws Exception {
        broker = Broker.start();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
            admin.createTopics(List.of(new NewTopic(Topics.IDENTITIES, PARTITIONS, (short) 1)
                            .configs(Map.of("cleanup.policy", "compact,delete"))))
                    .all()
                    .get();
        }
        int schemaId = SharedSchemas.register(
                Topics.IDENTITIES + "-value", RecordWriter.of(IdentityRow.class).schema());
        topic = new RememberedTopic(broker.bootstrapServers(), PARTITIONS, schemaId, NAMES, SEED);
        topic.writeAll();
        resolverUri = URI.create("http://127.0.0.1:" + freePort());
    }

    /**
     * Returns a free port below those that Linux gives to outgoing connections. Otherwise the port could be taken
     * before the resolver starts, or while it is killed.
     */
    private static int freePort() throws IOException {
        IOException failure = new IOException("no port is free");
        for (int attempt = 0; attempt < 100; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(20_000, 32_768);
            try (ServerSocket free = new ServerSocket(port)) {
                return free.getLocalPort();
            } catch (BindException e) {
                failure = e;
            }
        }
        throw failure;
    }

    @AfterEach
    void stopAll() throws Exception {
        if (resolver != null) {
            resolver.kill();
        }
        http.close();
        topic.close();
        broker.close();
    }

    private void startResolver() throws IOException {
        ServerProcess started = ServerProcess.start(
                ResolverChild.class,
                Map.of(
                        "PURI_BOOTSTRAP_SERVER",
                        broker.bootstrapServers(),
                        "PURI_SCHEMA_REGISTRY",
                        SharedSchemas.url(),
                        "PURI_HTTP_PORT",
                        Integer.toString(resolverUri.getPort()),
                        // So that older ones are sometimes read from the topic.
                        "PURI_CHANGES_HISTORY",
                        "1000",
                        "PURI_CHANGES_HEARTBEAT",
                        "100ms",
                        // The resolver may not have noticed the killed ones yet.
                        "PURI_MAX_EXPORTS",
                        "10"),
                folder);
        resolver = started;
        started.awaitSaid(COMPLETE);
    }

    private void killResolver() throws InterruptedException {
        Objects.requireNonNull(resolver).kill();
    }

    @Test
    @Execution(ExecutionMode.SAME_THREAD)
    void aReplicaThatIsKilledAtAnyPointFinallyEqualsTheTable() throws Exception {
        startResolver();
        topic.resume();
        ReplicaCopy copy = new ReplicaCopy(http);
        Map<String, Integer> kills = new HashMap<>();
        for (int life = 0; life < 24; life++) {
            if (life == 12) {
                killResolver();
                startResolver();
            }
            // The first copy does not reach the export's end; others may.
            int[] left = {random.nextInt(life == 0 ? NAMES / 2 : copy.needsExport() ? 2 * NAMES : 6_000)};
            String phase = copy.needsExport() ? "export" : "changes";
            try {
                if (copy.needsExport()) {
                    copy.takeExport(resolverUri, random.nextBoolean(), () -> left[0]-- == 0);
                } else {
                    copy.follow(resolverUri, () -> left[0]-- == 0);
                }
            } catch (ReplicaCopy.Killed e) {
                kills.merge(phase, 1, Integer::sum);
            }
            if (random.nextInt(12) == 0) {
                // It lost its disk too.
                copy = new ReplicaCopy(http);
            }
        }
        topic.pause();

        Map<String, Map<String, String>> expected = new HashMap<>();
        topic.rows().forEach((puri, row) -> expected.put(puri.toString(), ReplicaCopy.members(puri, row)));
        catchUp(copy, expected);
        assertThat(kills.keySet())
                .as("with -Dpuri.replica.seed=%d: %s", SEED, kills)
                .containsExactlyInAnyOrder("export", "changes");
        assertThat(differences(copy.rows(), expected)).as(explained()).isEmpty();
        for (boolean avro : List.of(false, true)) {
            ReplicaCopy fresh = new ReplicaCopy(http);
            fresh.takeExport(resolverUri, avro, () -> false);
            assertThat(differences(fresh.rows(), expected)).as(explained()).isEmpty();
        }
    }

    /** Follows changes until the copy equals the expected rows, or never will. */
    private void catchUp(ReplicaCopy copy, Map<String, Map<String, String>> expected) throws Exception {
        long end = System.nanoTime() + TIMEOUT.toNanos();
        while (!copy.rows().equals(expected) && System.nanoTime() < end) {
            long look = System.nanoTime() + Duration.ofSeconds(2).toNanos();
            try {
                if (copy.needsExport()) {
                    copy.takeExport(resolverUri, false, () -> false);
                } else {
                    copy.follow(resolverUri, () -> System.nanoTime() > look);
                }
            } catch (ReplicaCopy.Killed e) {
                // The time is over; the loop compares the rows.
            }
        }
    }

    private static List<String> differences(
            Map<String, Map<String, String>> rows, Map<String, Map<String, String>> expected) {
        return Stream.concat(rows.keySet().stream(), expected.keySet().stream())
                .distinct()
                .filter(puri -> !expected.getOrDefault(puri, Map.of()).equals(rows.getOrDefault(puri, Map.of())))
                .limit(20)
                .map(puri -> rows.get(puri) + " instead of " + expected.get(puri))
                .toList();
    }

    @Test
    @Execution(ExecutionMode.SAME_THREAD)
    void theNodeExampleKeepsACompleteCopy() throws Exception {
        anExampleKeepsACompleteCopy("node", "replica.mjs");
    }

    @Test
    @Execution(ExecutionMode.SAME_THREAD)
    void thePythonExampleKeepsACompleteCopy() throws Exception {
        anExampleKeepsACompleteCopy("python3", "replica.py");
    }

    private void anExampleKeepsACompleteCopy(String program, String script) throws Exception {
        requireInstalled(program);
        startResolver();
        topic.resume();
        Path said = folder.resolve("said");
        Process example = new ProcessBuilder(program, EXAMPLES.resolve(script).toString(), resolverUri.toString())
                .redirectError(said.toFile())
                .start();
        try (BufferedReader out = example.inputReader();
                BufferedWriter in = example.outputWriter()) {
            await().atMost(TIMEOUT).until(() -> Files.readString(said).contains("rows exported"));
            killResolver();
            startResolver();
            topic.pause();
            Map<String, Map<String, String>> expected = new HashMap<>();
            topic.rows().forEach((puri, row) -> expected.put(puri.toString(), ReplicaCopy.members(puri, row)));

            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(differences(printed(in, out), expected))
                            .as("%s, output: %s", explained(), Files.readString(said))
                            .isEmpty());

            String one = expected.keySet().iterator().next();
            assertThat(ReplicaCopy.members(JSON.readTree(ask(in, out, one)))).isEqualTo(expected.get(one));
            assertThat(ask(in, out, "n:c:nobody")).isEqualTo("null");
            assertThat(Files.readString(said).split("rows exported", -1))
                    .as("the replica exports once")
                    .hasSize(2);
        } finally {
            example.destroyForcibly();
        }
    }

    private static String ask(BufferedWriter in, BufferedReader out, String line) throws IOException {
        in.write(line + "\n");
        in.flush();
        return next(out);
    }

    private static String next(BufferedReader out) throws IOException {
        return Objects.requireNonNull(out.readLine(), "it has ended");
    }

    private static Map<String, Map<String, String>> printed(BufferedWriter in, BufferedReader out) throws IOException {
        Map<String, Map<String, String>> rows = new HashMap<>();
        for (String line = ask(in, out, ""); !line.isEmpty(); line = next(out)) {
            Map<String, String> row = ReplicaCopy.members(JSON.readTree(line));
            rows.put(row.get("puri"), row);
        }
        return rows;
    }

    /** Without it the test is skipped with a message; on the build server it fails. */
    private static void requireInstalled(String program) {
        boolean isThere = Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
        if (!isThere) {
            String missing = program + " is not installed";
            if (Boolean.parseBoolean(System.getenv("CI"))) {
                fail(missing);
            }
            Assumptions.abort(missing);
        }
    }

    private String explained() {
        return "with -Dpuri.replica.seed=" + SEED + ", the last resolver said:\n"
                + (resolver == null ? "" : resolver.output());
    }
}
