package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.embedded.EmbeddedBroker;
import dev.puri.projection.ResourceStack;
import dev.puri.registry.RegistryStreams;
import dev.puri.registry.StreamsSettings;
import dev.puri.resolver.Resolver;
import dev.puri.resolver.ResolverSettings;
import dev.puri.search.SearchServer;
import dev.puri.search.SearchSettings;
import dev.puri.settings.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * A registry whose servers start and stop one by one, for the drills of {@code docs/disasters.md}. It runs the commands
 * of the page as they are written there: {@code puri} in this process, Kafka's tools as requests of an admin client,
 * and all others in a shell.
 */
final class DrillStack implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(90);

    /** Several stacks may start at the same time. */
    private static final Duration READY_TIMEOUT = Duration.ofSeconds(180);

    private static final Pattern KAFKA_TOPICS =
            Pattern.compile("kafka-topics.sh --bootstrap-server HOST:9092 --delete --topic '?([^']+)'?");
    private static final Set<String> FILE_OPTIONS = Set.of("-f", "--file", "-d", "--dir");

    private final Path folder;
    private final Path files;
    private final String schemaRegistry;
    private final ResourceStack resources = new ResourceStack();
    private final EmbeddedBroker broker;
    private final Admin admin;
    private @Nullable RegistryStreams streams;
    private @Nullable Resolver resolver;
    private @Nullable SearchServer indexer;

    /**
     * Starts a broker and creates the topics with two partitions.
     *
     * @param folder the data of the servers
     * @param files the files that commands read and write
     */
    DrillStack(Path folder, Path files, String schemaRegistry) {
        this(folder, files, schemaRegistry, 2);
    }

    DrillStack(Path folder, Path files, String schemaRegistry, int partitions) {
        this.folder = folder;
        this.files = files;
        this.schemaRegistry = schemaRegistry;
        broker = resources.add(EmbeddedBroker.start(folder.resolve("kafka"), 0), EmbeddedBroker::close);
        admin = resources.add(
                Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers())),
                each -> each.close(Duration.ofSeconds(5)));
        resources.runBeforeClosing(this::stopIndexer);
        resources.runBeforeClosing(this::stopResolver);
        resources.runBeforeClosing(this::stopTopology);
        closeIfItFails(() -> {
            // Stacks share a schema registry, which responds with a conflict if two of them set the first
            // compatibility.
            synchronized (DrillStack.class) {
                assertDone(puri("topics create --partitions " + partitions + " --replication-factor 1"));
            }
        });
    }

    /** Runs a part of the start. If it fails, closes the stack, because the caller does not get it. */
    void closeIfItFails(Runnable start) {
        try {
            start.run();
        } catch (RuntimeException | Error e) {
            resources.closeAfter(e);
            throw e;
        }
    }

    Path folder() {
        return folder;
    }

    Admin admin() {
        return admin;
    }

    /** Starts a topology, a resolver and, if wanted, an indexer, and waits until they are ready. */
    DrillStack startServers(boolean withIndexer) {
        closeIfItFails(() -> {
            startTopology();
            startResolver();
            if (withIndexer) {
                indexer = SearchServer.start(settings(
                        SearchSettings.class, Map.of("http.port", "0", "state.dir", "search", "drain.delay", "0s")));
            }
            awaitReady();
        });
        return this;
    }

    void startTopology() {
        streams = RegistryStreams.start(settings(
                StreamsSettings.class,
                Map.of(
                        "streams.http.port", "0",
                        "streams.state.dir", "streams",
                        "streams.replication.factor", "1",
                        "streams.commit.interval", "25ms")));
    }

    void stopTopology() {
        if (streams != null) {
            streams.close();
            streams = null;
        }
    }

    void startResolver() {
        resolver = Resolver.start(settings(
                ResolverSettings.class, Map.of("http.port", "0", "state.dir", "resolver", "drain.delay", "0s")));
    }

    void stopResolver() {
        if (resolver != null) {
            resolver.close();
            resolver = null;
        }
    }

    private void stopIndexer() {
        if (indexer != null) {
            indexer.close();
            indexer = null;
        }
    }

    /** Waits until the topology is ready. Copies that differ from it are not. */
    void awaitTopology() {
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(streams != null && streams.isReady())
                        .as(health("topology"))
                        .isTrue());
    }

    void awaitReady() {
        await().atMost(READY_TIMEOUT).untilAsserted(() -> {
            assertThat(streams == null || streams.isReady())
                    .as(health("topology"))
                    .isTrue();
            assertThat(resolver == null || resolver.isReady())
                    .as(health("resolver"))
                    .isTrue();
            assertThat(indexer == null || indexer.isReady()).as("indexer").isTrue();
        });
    }

    /** Waits until the health of a server contains a text. */
    void awaitHealth(String server, String text) {
        await().atMost(TIMEOUT).untilAsserted(() -> assertThat(health(server)).contains(text));
    }

    /** Returns the text of {@code /health/ready}. */
    String health(String server) {
        if (server.equals("topology") ? streams == null : resolver == null) {
            return server + " is stopped";
        }
        return DrillShell.get(
                (server.equals("topology") ? "http://127.0.0.1:" + streams.port() : resolverUrl()) + "/health/ready");
    }

    String bootstrapServers() {
        return broker.bootstrapServers();
    }

    String schemaRegistryUrl() {
        return schemaRegistry;
    }

    String resolverUrl() {
        return "http://127.0.0.1:" + (resolver == null ? 1 : resolver.port());
    }

    String indexerUrl() {
        return "http://127.0.0.1:" + (indexer == null ? 1 : indexer.port());
    }

    private <T extends Record> T settings(Class<T> type, Map<String, String> flags) {
        Map<String, String> all = new HashMap<>(flags);
        all.put("bootstrap.server", broker.bootstrapServers());
        all.put("schema.registry", schemaRegistry);
        for (String name : List.of("state.dir", "streams.state.dir")) {
            all.computeIfPresent(name, (key, value) -> folder.resolve(value).toString());
        }
        return Settings.of(all, Map.of(), null).read(type);
    }

    /** Runs the commands of the first shell block of a section of the page whose first line contains a text. */
    void run(String section, String firstLine) throws Exception {
        for (String line : DrillPage.commands(section, firstLine)) {
            Matcher delete = KAFKA_TOPICS.matcher(line);
            if (delete.matches()) {
                deleteTopics(delete.group(1));
            } else if (line.startsWith("kafka-consumer-groups.sh --bootstrap-server HOST:9092 --delete --group ")) {
                deleteGroup(line.substring(line.lastIndexOf(' ') + 1));
            } else if (line.startsWith("kafka-consumer-groups.sh --bootstrap-server HOST:9092 --describe --group ")) {
                awaitNoLag(line.substring(line.lastIndexOf(' ') + 1));
            } else if (line.startsWith("puri ")) {
                runPuri(line);
            } else {
                runShell(line);
            }
        }
    }

    /** Runs {@code puri …} or {@code puri … > FILE}. */
    private void runPuri(String line) throws IOException {
        String[] parts = line.split(" > ", -1);
        CommandLineRun run = puri(parts[0].substring("puri ".length()));
        assertDone(run);
        if (parts.length > 1) {
            Files.writeString(files.resolve(parts[1]), run.out());
        }
    }

    private void runShell(String line) throws IOException, InterruptedException {
        DrillShell.run(
                line.replace("http://127.0.0.1:8080", resolverUrl())
                        .replace("http://127.0.0.1:8081", schemaRegistry.replaceFirst("/apis/.*", "")),
                files,
                Map.of(
                        "PURI_STREAMS_STATE_DIR", folder.resolve("streams").toString(),
                        "PURI_STATE_DIR", folder.resolve("resolver").toString()));
    }

    /** Deletes the topics whose name matches, and waits until they are gone. */
    void deleteTopics(String pattern) throws Exception {
        List<String> names = topics(pattern);
        assertThat(names).as(pattern).isNotEmpty();
        admin.deleteTopics(names).all().get();
        await().atMost(TIMEOUT).until(() -> topics(pattern).isEmpty());
    }

    /** Deletes a consumer group, once its last member has gone. */
    private void deleteGroup(String group) {
        await().atMost(TIMEOUT)
                .ignoreExceptions()
                .until(() -> admin.deleteConsumerGroups(List.of(group)).all().get() == null);
    }

    /** Waits until a consumer group has committed the end offset of each partition. */
    private void awaitNoLag(String group) {
        await().atMost(TIMEOUT).untilAsserted(() -> {
            Map<TopicPartition, OffsetAndMetadata> committed = admin.listConsumerGroupOffsets(group)
                    .partitionsToOffsetAndMetadata()
                    .get();
            Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
            committed.keySet().forEach(partition -> latest.put(partition, OffsetSpec.latest()));
            var ends = admin.listOffsets(latest).all().get();
            assertThat(committed)
                    .isNotEmpty()
                    .allSatisfy((partition, offset) -> assertThat(offset.offset())
                            .isEqualTo(ends.get(partition).offset()));
        });
    }

    List<String> topics(String pattern) throws Exception {
        return admin.listTopics().names().get().stream()
                .filter(name -> name.matches(pattern))
                .toList();
    }

    /** Runs a command with words that contain no spaces. */
    CommandLineRun puri(String words) {
        return puri("", words);
    }

    CommandLineRun puri(String input, String words) {
        List<String> args = new ArrayList<>(Arrays.asList(words.strip().split(" +", -1)));
        for (int i = 1; i < args.size(); i++) {
            if (FILE_OPTIONS.contains(args.get(i - 1)) && !args.get(i).equals("-")) {
                args.set(i, files.resolve(args.get(i)).toString());
            }
        }
        return CommandLineRun.reading(
                Map.of(
                        "PURI_BOOTSTRAP_SERVER",
                        broker.bootstrapServers(),
                        "PURI_SCHEMA_REGISTRY",
                        schemaRegistry,
                        "PURI_RESOLVER",
                        resolverUrl(),
                        "PURI_SEARCH",
                        indexerUrl()),
                input,
                args.toArray(String[]::new));
    }

    static void assertDone(CommandLineRun run) {
        assertThat(run.status()).as(run.out() + run.err()).isZero();
    }

    /** Writes a file that a command of the page reads. */
    void write(String file, String text) throws IOException {
        Files.writeString(files.resolve(file), text);
    }

    void append(String file, String text) throws IOException {
        Files.writeString(files.resolve(file), text, StandardOpenOption.APPEND);
    }

    /** Writes the files with the given names as the page shows them. */
    void writeYamlOf(String section, String... names) throws IOException {
        List<String> blocks = DrillPage.yaml(section);
        assertThat(blocks).as(section).hasSize(names.length);
        for (int i = 0; i < names.length; i++) {
            write(names[i], blocks.get(i));
        }
    }

    void apply(String yaml) {
        assertDone(puri(yaml, "collections apply -f -"));
    }

    /** Publishes an event for each line and waits for the outcomes; returns the run. */
    CommandLineRun publish(String... lines) {
        return puri(String.join("\n", lines), "publish -f - --wait");
    }

    JsonNode resolve(String ref) {
        return Json.parse(puri("-o json resolve " + ref).out()).path("results").path(0);
    }

    /** Waits until a look-up has a verdict, and returns it. */
    JsonNode awaitVerdict(String ref, String verdict) {
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(resolve(ref).path("verdict").asText())
                        .as(ref)
                        .isEqualTo(verdict));
        return resolve(ref);
    }

    @Override
    public void close() {
        resources.close();
    }
}
