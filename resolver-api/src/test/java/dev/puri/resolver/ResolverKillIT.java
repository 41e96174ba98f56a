package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A resolver that is killed repeatedly while its topic is written, and finally asked for every row.
 * After some kills the topic's beginning is deleted, so that only snapshots contain some rows:
 * a snapshot that was lost, or a table that was read from the topic again, would be detected.
 */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
final class ResolverKillIT {
    private static final int PARTITIONS = 3;
    private static final int NAMES = 50_000;
    private static final int REFS_AT_ONCE = 5_000;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static final Pattern LISTENS = Pattern.compile("Resolver listens on 127\\.0\\.0\\.1:(\\d+)");
    private static final Pattern BEGUN = Pattern.compile("Filling the table");
    private static final Pattern COMPLETE = Pattern.compile("The table is complete");
    private static final Pattern OPENED =
            Pattern.compile("Opened .*: (\\d+) rows in \\d+ ms, (\\d+) records to be read");
    private static final Pattern WROTE = Pattern.compile("Wrote .*identities.snapshot");

    private static final ObjectMapper JSON = new ObjectMapper();

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);
    private final HttpClient http = HttpClient.newHttpClient();

    @TempDir
    private Path folder;

    private Path stateDir;
    private RestartableBroker broker;
    private Admin admin;
    private RememberedTopic topic;
    private @Nullable ServerProcess resolver;

    /** When a resolver is killed. */
    private enum Moment {
        FILLING,
        WRITING,
        LIVE
    }

    @BeforeEach
    void startBroker() throws Exception {
        stateDir = folder.resolve("state");
        broker = Broker.start();
        admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
        admin.createTopics(List.of(new NewTopic(Topics.IDENTITIES, PARTITIONS, (short) 1)
                        .configs(Map.of("cleanup.policy", "compact,delete"))))
                .all()
                .get();
        int schemaId = SharedSchemas.register(
                Topics.IDENTITIES + "-value", RecordWriter.of(IdentityRow.class).schema());
        topic = new RememberedTopic(broker.bootstrapServers(), PARTITIONS, schemaId, NAMES, seed);
    }

    @AfterEach
    void stopAll() throws Exception {
        if (resolver != null) {
            resolver.kill();
        }
        http.close();
        topic.close();
        admin.close();
        broker.close();
    }

    @Test
    void aResolverKilledAtAnyMomentAnswersAsItsTopicSays() throws Exception {
        topic.writeAll();
        topic.resume();
        // No snapshot exists yet, so this is during the reading of the whole topic.
        killAt(Moment.FILLING);
        killAt(Moment.WRITING);
        killAndDeleteRecordsOfTheSnapshot();
        List<Moment> moments = new ArrayList<>(List.of(Moment.values()));
        moments.add(Moment.WRITING);
        Collections.shuffle(moments, random);
        for (Moment moment : moments) {
            killAt(moment);
        }
        topic.pause();

        ServerProcess last = start();
        last.awaitSaid(COMPLETE);
        long end = sum(ends());
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(reached(last)).as(explained()).isEqualTo(end));

        List<MatchResult> opened = last.said(OPENED);
        assertThat(opened).as(explained()).hasSize(1);
        assertThat(Long.parseLong(opened.getFirst().group(2)))
                .as("records that were left to read")
                .isLessThan(end - sum(begins()));
        assertAnswersAreThoseOfTheTopic(last);
    }

    private ServerProcess start() throws Exception {
        ServerProcess started = ServerProcess.start(
                ResolverChild.class,
                Map.of(
                        "PURI_BOOTSTRAP_SERVER", broker.bootstrapServers(),
                        "PURI_SCHEMA_REGISTRY", SharedSchemas.url(),
                        "PURI_HTTP_PORT", "0",
                        "PURI_MAX_REFS", Integer.toString(REFS_AT_ONCE),
                        "PURI_STATE_DIR", stateDir.toString(),
                        "PURI_SNAPSHOT_INTERVAL", "1s"),
                folder);
        resolver = started;
        return started;
    }

    private void killAt(Moment moment) throws Exception {
        boolean kept = Files.exists(stateDir.resolve("identities.snapshot"));
        ServerProcess running = start();
        switch (moment) {
            case FILLING -> {
                running.awaitSaid(BEGUN);
                running.runFor(upTo(500));
            }
            case WRITING -> {
                running.awaitSaid(WROTE);
                await().atMost(TIMEOUT)
                        .pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofNanos(100_000))
                        .until(this::isWriting);
                running.runFor(upTo(20));
            }
            case LIVE -> {
                running.awaitSaid(COMPLETE);
                running.runFor(upTo(1_000));
            }
        }
        running.kill();
        assertThat(running.said(OPENED)).as(explained()).hasSize(kept ? 1 : 0);
    }

    private boolean isWriting() throws IOException {
        try (Stream<Path> files = Files.list(stateDir)) {
            return files.anyMatch(file -> file.getFileName().toString().startsWith("identities.snapshot.writing-"));
        }
    }

    private Duration upTo(int millis) {
        return Duration.ofNanos(random.nextLong(Duration.ofMillis(millis).toNanos()));
    }

    private void killAndDeleteRecordsOfTheSnapshot() throws Exception {
        ServerProcess running = start();
        topic.pause();
        Map<TopicPartition, Long> ends = ends();
        await().atMost(TIMEOUT)
                .untilAsserted(
                        () -> assertThat(reached(running)).as(explained()).isEqualTo(sum(ends)));
        topic.resume();
        // The first one may have started before.
        running.awaitSaid(WROTE, running.said(WROTE).size() + 2);
        running.kill();
        Map<TopicPartition, RecordsToDelete> deleted = new HashMap<>();
        ends.forEach((partition, end) -> deleted.put(partition, RecordsToDelete.beforeOffset(end)));
        admin.deleteRecords(deleted).all().get();
    }

    private void assertAnswersAreThoseOfTheTopic(ServerProcess asked) throws Exception {
        Map<Puri, Row> rows = topic.rows();
        Map<Handle, Puri> purisByHandle = new HashMap<>();
        rows.forEach((name, row) -> {
            if (row.handle() != null) {
                purisByHandle.put(row.handle(), name);
            }
        });
        Map<String, @Nullable Puri> refs = new TreeMap<>();
        // And names that never existed.
        IntStream.range(0, NAMES + 1_000)
                .mapToObj(RememberedTopic::name)
                .forEach(name -> refs.put(name.toString(), name));
        topic.handles().forEach(handle -> refs.put(handle.text(), purisByHandle.get(handle)));
        List<String> wrong = new ArrayList<>();
        List<String> all = List.copyOf(refs.keySet());
        for (int from = 0; from < all.size(); from += REFS_AT_ONCE) {
            List<String> some = all.subList(from, Math.min(all.size(), from + REFS_AT_ONCE));
            JsonNode results = JSON.readTree(send(HttpRequest.newBuilder(uri(asked, "/v1/resolve"))
                            .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(Map.of("refs", some))))))
                    .at("/results");
            for (int i = 0; i < some.size(); i++) {
                Map<String, String> expected = expected(some.get(i), refs.get(some.get(i)), rows);
                Map<String, String> answered = texts(results.path(i));
                if (!answered.equals(expected)) {
                    wrong.add(answered + " instead of " + expected);
                }
            }
        }
        assertThat(wrong.stream().limit(20))
                .as("%d of %d answers are wrong, %s", wrong.size(), all.size(), explained())
                .isEmpty();
        assertThat(send(HttpRequest.newBuilder(uri(asked, "/metrics"))))
                .as(explained())
                .contains("puri_table_rows " + (double) rows.size());
    }

    private static Map<String, String> expected(String ref, @Nullable Puri name, Map<Puri, Row> rows) {
        Map<String, String> expected = new TreeMap<>();
        expected.put("ref", ref);
        if (name != null) {
            expected.put("puri", name.toString());
        }
        Row row = name == null ? null : rows.get(name);
        if (row == null) {
            expected.put("verdict", "unknown");
            return expected;
        }
        expected.put("verdict", row.status() == Row.Status.ACTIVE ? "found" : lower(row));
        if (row.handle() != null) {
            expected.put("handle", row.handle().text());
        }
        expected.put("status", lower(row));
        expected.put("epoch", Long.toString(row.epoch()));
        expected.put("createdAt", millis(row.createdAt()));
        expected.put("changedAt", millis(row.changedAt()));
        if (row.mergedInto() != null) {
            expected.put("canonical", row.mergedInto().toString());
        }
        if (row.status() != Row.Status.DELETED) {
            Row placement = row.mergedInto() == null ? row : rows.get(row.mergedInto());
            expected.put("owner", placement.owner().text());
            expected.put("shard", placement.shard().text());
            expected.put("uuid", placement.uuid().toString());
        }
        return expected;
    }

    private static String lower(Row row) {
        return row.status().name().toLowerCase(Locale.ROOT);
    }

    private static String millis(Instant instant) {
        return instant.toString().length() == 20 ? instant.toString().replace("Z", ".000Z") : instant.toString();
    }

    private static Map<String, String> texts(JsonNode result) {
        Map<String, String> texts = new TreeMap<>();
        result.properties()
                .forEach(field -> texts.put(field.getKey(), field.getValue().asText()));
        return texts;
    }

    /** Returns the sum of the offsets that the table has reached, or -1 if health does not report it. */
    private long reached(ServerProcess asked) throws Exception {
        return JSON.readTree(send(HttpRequest.newBuilder(uri(asked, "/health/ready"))))
                .at("/checks/0/data/reached")
                .asLong(-1);
    }

    private static URI uri(ServerProcess asked, String path) {
        return URI.create("http://127.0.0.1:" + asked.awaitSaid(LISTENS).group(1) + path);
    }

    private String send(HttpRequest.Builder request) throws Exception {
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString()).body();
    }

    private Map<TopicPartition, Long> ends() throws Exception {
        return offsets(OffsetSpec.latest());
    }

    private Map<TopicPartition, Long> begins() throws Exception {
        return offsets(OffsetSpec.earliest());
    }

    private Map<TopicPartition, Long> offsets(OffsetSpec which) throws Exception {
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            asked.put(new TopicPartition(Topics.IDENTITIES, partition), which);
        }
        Map<TopicPartition, Long> offsets = new HashMap<>();
        admin.listOffsets(asked, new ListOffsetsOptions(IsolationLevel.READ_COMMITTED))
                .all()
                .get()
                .forEach((partition, found) -> offsets.put(partition, found.offset()));
        return offsets;
    }

    private static long sum(Map<TopicPartition, Long> offsets) {
        return offsets.values().stream().mapToLong(Long::longValue).sum();
    }

    private String explained() {
        return "seed " + seed + ", the last resolver said:\n" + (resolver == null ? "" : resolver.output());
    }
}
