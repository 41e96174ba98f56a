package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.registry.RegistryTopics;
import dev.puri.resolver.Resolver;
import dev.puri.resolver.ResolverSettings;
import dev.puri.resolver.ResolverTables;
import dev.puri.resolver.table.TableFaults;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.search.SearchServer;
import dev.puri.search.SearchSettings;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.search.lucene.AlteredIndex;
import dev.puri.settings.Settings;
import dev.puri.testkit.TamperingProxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Four faults in a whole registry: a lost record, a flipped bit, an altered index entry and deleted records. Each makes
 * the server unready that has it, and {@code puri verify} names the key. Deleted records of documents also make a
 * backup of the attributes fail.
 */
@Order(2)
class AlarmIT {
    private static final int TRACKS = 40;

    /** An alarm takes a few seconds; the machine may be busy. */
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static final Puri TRACK = Puri.parse("music:tracks:7");

    @TempDir
    private Path data;

    @TempDir
    private Path folder;

    private final HttpClient http = HttpClient.newHttpClient();
    private TracksStack stack;

    @BeforeEach
    void start() {
        stack = TracksStack.start(data);
        stack.publishTracks(TRACKS);
    }

    @AfterEach
    void stop() {
        http.close();
        // Null if the start failed.
        if (stack != null) {
            stack.close();
        }
    }

    @Test
    void aRecordThatAResolverNeverSawIsAnAlarm() throws Exception {
        byte[] lost = "music:tracks:lost".getBytes(StandardCharsets.US_ASCII);
        try (TamperingProxy proxy = TamperingProxy.start(stack.servers().bootstrapServers())) {
            proxy.dropAll((partition, key) ->
                    partition.topic().equals(Topics.IDENTITIES) && key != null && Arrays.equals(key, lost));
            try (Resolver resolver = startResolver(proxy.bootstrapServers())) {
                String url = url(resolver.port());
                awaitReady(url);

                long faultNanos = System.nanoTime();
                stack.publish(TracksStack.created("lost"));

                String reason = awaitAlarm(url, faultNanos);
                assertThat(reason)
                        .startsWith("partition " + partition(Puri.parse("music:tracks:lost"))
                                + " of puri.identities.v1 differs from the registrar at offset ");
                assertThat(differences("resolver", "--also-resolver", url))
                        .containsExactly("missing music:tracks:lost");
            }
        }
    }

    @Test
    void aFlippedBitInTheMemoryOfAResolverIsAnAlarm() throws Exception {
        try (Resolver resolver = startResolver(stack.servers().bootstrapServers())) {
            String url = url(resolver.port());
            awaitReady(url);

            long faultNanos = System.nanoTime();
            TableFaults.flipBit(ResolverTables.of(resolver), TRACK);

            assertThat(awaitAlarm(url, faultNanos))
                    .startsWith("the stored rows of partition " + partition(TRACK) + " of puri.identities.v1 differ");
            assertThat(differences("resolver", "--also-resolver", url)).containsExactly("differs " + TRACK);
        }
    }

    @Test
    void anAlteredEntryOfTheIndexIsAnAlarm() throws Exception {
        try (SearchServer server = startIndexer()) {
            awaitReady(url(server.port()));
        }
        Row row = rowOf(TRACK);
        AlteredIndex.storeEntry(
                folder.resolve("index-1"),
                new IndexChange(EntryKind.IDENTITY, partition(TRACK), 0, TRACK, row),
                onShard(row, new Shard("eu-9")));
        long faultNanos = System.nanoTime();
        try (SearchServer server = startIndexer()) {
            String url = url(server.port());

            assertThat(awaitAlarm(url, faultNanos))
                    .contains("the stored rows of partition " + partition(TRACK), TRACK.toString());
            assertThat(differences("index", "--search", url)).containsExactly("differs " + TRACK);
        }
    }

    @Test
    void deletedRecordsOfTheTopicAreAnAlarm() throws Exception {
        stack.deleteRecords(Topics.IDENTITIES, List.of(partition(TRACK)));
        long faultNanos = System.nanoTime();

        for (String url : List.of(stack.servers().resolverUrl(), stack.servers().indexerUrl())) {
            assertThat(awaitAlarm(url, faultNanos))
                    .as(url)
                    .contains("records of partition " + partition(TRACK) + " of puri.identities.v1 before offset ");
        }
        assertThat(differences("registrar")).contains("missing " + TRACK);
    }

    @Test
    void theBackupOfAttributesOfATopicWithDeletedRecordsIsAFailure() throws Exception {
        awaitDocuments();
        stack.deleteRecords(Topics.DOCUMENTS, List.of(partition(TRACK)));

        CommandLineRun attributes = stack.run("", "identities", "attributes");

        assertThat(attributes.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(attributes.err())
                .contains(
                        "records of partition " + partition(TRACK) + " of puri.documents.v1 before offset ",
                        "so the output lacks attributes");
        assertThat(attributes.out()).contains("\"puri\":\"music:tracks:").doesNotContain(TRACK + "\"");
    }

    private void awaitDocuments() {
        await().atMost(TIMEOUT).untilAsserted(() -> {
            CommandLineRun attributes = stack.run("", "identities", "attributes");
            assertThat(attributes.status()).as(attributes.err()).isZero();
            assertThat(attributes.outLines()).hasSize(TRACKS);
        });
    }

    private Row rowOf(Puri puri) throws Exception {
        try (Resolver resolver = startResolver(stack.servers().bootstrapServers())) {
            awaitReady(url(resolver.port()));
            return Objects.requireNonNull(ResolverTables.of(resolver).byPuri(puri))
                    .row();
        }
    }

    private static Row onShard(Row row, Shard shard) {
        return new Row(
                row.uuid(),
                row.owner(),
                shard,
                row.handle(),
                row.status(),
                row.epoch(),
                row.createdAt(),
                row.changedAt(),
                row.mergedInto(),
                row.position());
    }

    private Resolver startResolver(String bootstrapServers) {
        return Resolver.start(Settings.read(ResolverSettings.class, settings(bootstrapServers), Map.of(), null));
    }

    private SearchServer startIndexer() {
        Map<String, String> flags = new HashMap<>(settings(stack.servers().bootstrapServers()));
        flags.put("state.dir", folder.toString());
        return SearchServer.start(Settings.read(SearchSettings.class, flags, Map.of(), null));
    }

    private Map<String, String> settings(String bootstrapServers) {
        return Map.of(
                "bootstrap.server",
                bootstrapServers,
                "schema.registry",
                stack.servers().schemaRegistryUrl(),
                "http.port",
                "0",
                "drain.delay",
                "0s");
    }

    private static int partition(Puri puri) {
        return Utils.toPositive(Utils.murmur2(puri.toBytes())) % RegistryTopics.DEFAULT_PARTITIONS;
    }

    private static String url(int port) {
        return "http://127.0.0.1:" + port;
    }

    private void awaitReady(String url) {
        await().atMost(TIMEOUT).until(() -> readiness(url).statusCode() == 200);
    }

    /**
     * Waits until a server is not ready, and returns the reason.
     *
     * @param faultNanos when the fault happened. The time until the alarm is printed
     */
    private String awaitAlarm(String url, long faultNanos) {
        await().atMost(TIMEOUT).until(() -> reason(url).contains(Topics.IDENTITIES));
        Duration delay = Duration.ofNanos(System.nanoTime() - faultNanos);
        String reason = reason(url);
        System.out.println("alarm after " + delay.toMillis() + " ms: " + reason);
        return reason;
    }

    private String reason(String url) {
        HttpResponse<String> response = readiness(url);
        if (response.statusCode() == 200) {
            return "";
        }
        return Json.parse(response.body()).findValuesAsText("reason").stream()
                .filter(reason -> reason.contains(Topics.IDENTITIES))
                .findFirst()
                .orElse("");
    }

    private HttpResponse<String> readiness(String url) {
        return http.sendAsync(
                        HttpRequest.newBuilder(URI.create(url + "/health/ready"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .join();
    }

    /** Verifies a part, and returns the kind and the key of each difference. */
    private List<String> differences(String part, String... options) {
        List<String> arguments = new ArrayList<>(List.of("--part", part));
        arguments.addAll(List.of(options));
        CommandLineRun verified = stack.verify(arguments.toArray(String[]::new));
        assertThat(verified.status()).as(verified.out() + verified.err()).isEqualTo(ExitStatus.FAILED);
        return verified.outLines().stream()
                .map(Json::parse)
                .filter(line -> line.has("difference"))
                .map(line -> line.path("difference").asText() + " "
                        + line.path("puri").asText())
                .toList();
    }
}
