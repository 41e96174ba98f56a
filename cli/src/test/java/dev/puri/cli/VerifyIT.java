package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.puri.cli.io.LogReader;
import dev.puri.cli.io.RateLimiter;
import dev.puri.cli.verify.Check;
import dev.puri.cli.verify.CheckRunner;
import dev.puri.cli.verify.Difference;
import dev.puri.cli.verify.RegistryReader;
import dev.puri.cli.verify.VerifyFolder;
import dev.puri.projection.TopicAdmin;
import dev.puri.projection.TopicEnds;
import dev.puri.projection.wait.Tokens;
import dev.puri.registry.RegistrarChangelogs;
import dev.puri.resolver.feed.Snapshots;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.SnapshotOrigin;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.DocumentAvro;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.AvroSerializer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code puri verify} finds and repairs differences that a foreign producer makes in a whole registry. */
@Order(1)
class VerifyIT {
    private static final int TRACKS = 40;
    private static final String CHANGELOG = RegistrarChangelogs.registrationsTopic("puri-registry");

    @TempDir
    private Path data;

    @TempDir
    private Path folder;

    private TracksStack stack;

    @BeforeEach
    void start() {
        stack = TracksStack.start(data);
    }

    @AfterEach
    void stop() {
        // Null if the start failed.
        if (stack != null) {
            stack.close();
        }
    }

    @Test
    void differencesAreNamedAndRepaired() throws Exception {
        CommandLineRun empty = stack.verify("--part", "registrar,resolver");
        assertThat(empty.status()).as(empty.out() + empty.err()).isZero();
        publishTracks();
        CommandLineRun clean = stack.verify();
        assertThat(clean.status()).as(clean.out() + clean.err()).isZero();
        assertThat(clean.outLines()).allMatch(line -> line.startsWith("{\"equal\":true"));
        JsonNode copies = summary(clean).path("copies");
        assertThat(copies).hasSize(5);
        copies.forEach(copy ->
                assertThat(copy.path("rows").asInt()).as(copy.toString()).isGreaterThan(TRACKS / 2));

        write("music:tracks:1", row("eu-9"));
        write("music:tracks:2", null);
        write("music:tracks:ghost", row("eu-9"));
        CommandLineRun differing = stack.verify("--part", "registrar,resolver,index");
        assertThat(differing.status()).isEqualTo(ExitStatus.FAILED);
        List<JsonNode> differences = differences(differing, "puri.identities.v1");
        assertThat(differences.stream().map(VerifyIT::name).toList())
                .containsExactlyInAnyOrder(
                        "music:tracks:1 differs", "music:tracks:2 missing", "music:tracks:ghost extra");
        JsonNode shard = differences.stream()
                .filter(difference -> name(difference).startsWith("music:tracks:1 "))
                .findFirst()
                .orElseThrow()
                .at("/fields/shard");
        assertThat(shard.toString()).isEqualTo("{\"expected\":\"br-1\",\"found\":\"eu-9\"}");
        assertThat(differences(differing, stack.servers().resolverUrl()))
                .as("the resolver agrees with the topic")
                .isEmpty();
        assertThat(differing.outLines().getLast()).startsWith("{\"equal\":false");

        long end = endOfEvents();
        CommandLineRun dryRun = stack.verify("--part", "registrar", "--repair");
        assertThat(dryRun.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(dryRun.err())
                .contains(
                        "would be written again: music:tracks:1",
                        "would be written again: music:tracks:2",
                        "would be deleted: music:tracks:ghost",
                        "2 rows would be written again, 1 rows would be deleted; nothing was published");
        assertThat(endOfEvents()).isEqualTo(end);

        CommandLineRun repaired = stack.verify("--part", "registrar", "--repair", "--yes");
        assertThat(repaired.status()).as(repaired.err()).isZero();
        assertThat(repaired.err()).contains("2 rows were written again, 1 rows were deleted. Verify again");
        CommandLineRun unanswered =
                stack.verify("--part", "registrar,resolver", "--resolver", "http://127.0.0.1:1", "--repair");
        assertThat(unanswered.status()).as("a part that could not be compared").isEqualTo(ExitStatus.FAILED);
        assertThat(unanswered.err())
                .contains("0 rows would be written again, 0 rows would be deleted", "not all rows were compared");
        CommandLineRun again = stack.verify();
        assertThat(again.status()).as(again.out() + again.err()).isZero();
    }

    /** A repair publishes 5,000 events, waits for their outcomes and publishes the next ones. */
    @Test
    void moreRowsThanABatchAreRepaired() throws Exception {
        int tracks = 5_010;
        stack.publishTracks(tracks);
        write(
                IntStream.rangeClosed(1, tracks)
                        .mapToObj(i -> "music:tracks:" + i)
                        .toList(),
                row("eu-9"));
        CommandLineRun repaired = stack.verify("--part", "registrar", "--repair", "--yes");
        assertThat(repaired.status()).as(repaired.err()).isZero();
        assertThat(repaired.err()).contains(tracks + " rows were written again, 0 rows were deleted. Verify again");
        CommandLineRun again = stack.verify("--part", "registrar");
        assertThat(again.status()).as(again.out() + again.err()).isZero();
    }

    @Test
    void aKilledVerificationEndsLikeAnUninterruptedOne() throws Exception {
        publishTracks();
        for (int i = 1; i <= 10; i++) {
            write("music:tracks:" + i, row("eu-" + i));
        }
        CommandLineRun uninterrupted = stack.verify("--part", "registrar");
        assertThat(differences(uninterrupted, "puri.identities.v1")).hasSize(10);

        int partitions = partitionCount();
        for (int checks = 0; checks == 0 || completed() <= 2 * partitions; checks++) {
            killAfter(checks);
        }
        String state = Files.readString(folder.resolve("state.json"));
        startedBefore(state, Duration.ofHours(2));
        CommandLineRun old = stack.verify("--part", "registrar", "-d", folder.toString(), "--repair", "--yes");
        assertThat(old.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(old.err()).contains("nothing was repaired", "use --restart");
        startedBefore(state, Duration.ofDays(2));
        CommandLineRun tooOld = stack.verify("--part", "registrar", "-d", folder.toString());
        assertThat(tooOld.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(tooOld.err()).contains("more than a day ago; use --restart");

        Files.writeString(folder.resolve("state.json"), state);
        CommandLineRun resumed = stack.verify("--part", "registrar", "-d", folder.toString());
        assertThat(resumed.err())
                .contains("continues the verification that started at "
                        + Json.parse(state).path("startedAt").asText());
        assertThat(resumed.outLines().stream().sorted().toList())
                .isEqualTo(uninterrupted.outLines().stream().sorted().toList());
        assertThat(Files.readAllLines(folder.resolve("differences.ndjson"))).hasSize(10);
        assertThat(Json.parse(Files.readString(folder.resolve("state.json")))
                        .path("complete")
                        .asBoolean())
                .isTrue();
    }

    /** Sets the time in the state of a verification. */
    private void startedBefore(String state, Duration age) throws IOException {
        String startedAt = Json.parse(state).path("startedAt").asText();
        Files.writeString(
                folder.resolve("state.json"),
                state.replace(startedAt, Instant.now().minus(age).toString()));
    }

    @Test
    void differencesOfTheRegistrarFromTheEventsHaveBothValues() throws Exception {
        CommandLineRun refused =
                stack.run(createdWithHandle("refused", "alb_123456789abcdef"), "publish", "-f", "-", "--wait");
        assertThat(refused.status()).as(refused.err()).isEqualTo(ExitStatus.PARTLY);
        publishTracks();
        stack.publish(createdWithHandle("public", "trk_123456789abcdef"));
        CommandLineRun clean = stack.verify("--part", "registrar");
        assertThat(clean.status()).as(clean.out() + clean.err()).isZero();

        send(registrationOf("music:tracks:1", null));
        send(registrationOf(
                "music:tracks:2", replace(lastRegistration("music:tracks:2").value(), "br-1", "eu-9")));
        send(registrationOf(
                "music:tracks:public",
                replace(lastRegistration("music:tracks:public").value(), "catalog", "charts1")));
        send(registrationOf("music:tracks:3", atPosition("music:tracks:3", 99, 0)));
        send(registrationOf("music:tracks:4", atPosition("music:tracks:4", partition("music:tracks:4"), 999_999)));
        // Neither an erased identity nor an event that waits must have a registration.
        send(registrationOf("music:tracks:34", null));
        send(registrationOf("music:tracks:6", null));
        send(new ProducerRecord<>(
                RegistrarChangelogs.parkedTopic("puri-registry"),
                partition("music:tracks:6"),
                parkedKey("music:tracks:6"),
                new byte[1]));
        writeDocument("music:tracks:5", "Other");
        CommandLineRun run = stack.verify("--part", "registrar");
        assertThat(run.status()).isEqualTo(ExitStatus.FAILED);
        List<JsonNode> differences = differences(run, CHANGELOG);
        assertThat(differences.stream()
                        .map(difference -> name(difference) + " "
                                + difference.at("/fields/shard")
                                + difference.at("/fields/owner") + " "
                                + difference.path("detail").asText())
                        .toList())
                .containsExactlyInAnyOrder(
                        "music:tracks:1 missing {\"expected\":\"br-1\"}{\"expected\":\"catalog\"} the registrar has read"
                                + " the event, did not refuse it, and has no registration",
                        "music:tracks:2 differs {\"expected\":\"br-1\",\"found\":\"eu-9\"} the event is at "
                                + rowOf("music:tracks:2").position(),
                        "music:tracks:public differs {\"expected\":\"catalog\",\"found\":\"charts1\"} the event is at "
                                + rowOf("music:tracks:public").position(),
                        " extra {\"found\":\"br-1\"}{\"found\":\"catalog\"} there is no log of 99-0",
                        " extra {\"found\":\"br-1\"}{\"found\":\"catalog\"} the log has no event at "
                                + partition("music:tracks:4") + "-999999");
        assertThat(differences(run, Topics.DOCUMENTS).stream()
                        .filter(difference -> name(difference).startsWith("music:tracks:5 "))
                        .map(difference -> name(difference) + difference.path("fields"))
                        .toList())
                .containsExactly("music:tracks:5 differs"
                        + "{\"attributes\":{\"expected\":\"{title=Song 5}\",\"found\":\"{title=Other}\"}}");
    }

    /** Returns the key of the first parked event of a pURI. */
    private static byte[] parkedKey(String puri) {
        return ByteBuffer.allocate(1 + 2 * Long.BYTES + Long.BYTES)
                .put(1, RegistrarChangelogs.key(puri.getBytes(StandardCharsets.UTF_8)))
                .array();
    }

    private static String createdWithHandle(String identifier, String handle) {
        return "{\"type\":\"created\",\"puri\":\"music:tracks:" + identifier
                + "\",\"owner\":\"catalog\",\"shard\":\"br-1\",\"handle\":\"" + handle + "\"}";
    }

    @Test
    void noRowIsDeletedWhoseRegistrationIsLost() throws Exception {
        publishTracks();
        write("music:tracks:34", rowOf("music:tracks:34"));
        CommandLineRun erased = stack.verify("--part", "registrar", "--repair", "--yes");
        assertThat(erased.status()).as(erased.err()).isZero();
        assertThat(erased.err()).contains("0 rows were written again, 1 rows were deleted");

        send(registrationOf("music:tracks:1", null));
        long end = endOfEvents();
        CommandLineRun lost = stack.verify("--part", "registrar", "--repair", "--yes");
        assertThat(lost.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(differences(lost, Topics.IDENTITIES).stream()
                        .map(VerifyIT::name)
                        .toList())
                .containsExactly("music:tracks:1 extra");
        assertThat(lost.err())
                .contains(
                        "nothing was repaired: the registrar has probably lost registrations",
                        "music:tracks:1 (its event " + rowOf("music:tracks:1").position() + " is in the log)",
                        "publish created with its values");
        assertThat(endOfEvents()).isEqualTo(end);
    }

    @Test
    void differencesOfCopiesHaveBothValues() throws Exception {
        publishTracks();
        compareSnapshots();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        AtomicInteger exports = new AtomicInteger();
        server.createContext("/v1/export", exchange -> {
            String export = wrongExport();
            // The first one is cut off, so the command requests another.
            respond(exchange, exports.incrementAndGet() == 1 ? export.substring(0, export.length() / 2) : export);
        });
        server.createContext("/v1/search/verify", exchange -> respond(exchange, """
                        {"puri":"music:tracks:7","kind":"identity","difference":"differs","fields":["shard"],"indexed":{"shard":"eu-9"}}
                        {"done":true,"identities":39,"documents":37,"missing":0,"ghost":0,"differs":1,"unsettled":0}
                        """));
        server.start();
        try {
            String url = "http://127.0.0.1:" + server.getAddress().getPort();
            CommandLineRun run = stack.verify("--part", "resolver,index", "--also-resolver", url, "--search", url);
            assertThat(run.status()).as(run.out() + run.err()).isEqualTo(ExitStatus.FAILED);
            List<JsonNode> differences = differences(run, url);
            assertThat(differences.stream()
                            .map(difference -> difference.path("part").asText() + " " + name(difference)
                                    + difference.path("fields").path("shard"))
                            .toList())
                    .containsExactlyInAnyOrder(
                            "resolver music:tracks:5 differs{\"expected\":\"br-1\",\"found\":\"eu-9\"}",
                            "resolver music:tracks:6 missing{\"expected\":\"br-1\"}",
                            "index music:tracks:7 differs{\"expected\":\"br-1\",\"found\":\"eu-9\"}");
            assertThat(differences(run, stack.servers().resolverUrl())).isEmpty();
        } finally {
            server.stop(0);
        }
    }

    /** Returns an export of the resolver in which one row is wrong and one is missing. */
    private String wrongExport() {
        try (HttpClient client = HttpClient.newHttpClient()) {
            String export = client.send(
                            HttpRequest.newBuilder(URI.create(stack.servers().resolverUrl() + "/v1/export"))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
            List<String> lines = new ArrayList<>(export.lines().toList());
            lines.removeLast();
            lines.removeIf(line -> line.contains("\"music:tracks:6\""));
            lines.replaceAll(line -> line.contains("\"music:tracks:5\"") ? line.replace("\"br-1\"", "\"eu-9\"") : line);
            String body = String.join("\n", lines) + "\n";
            byte[] sha256 = MessageDigest.getInstance("SHA-256").digest(body.getBytes(StandardCharsets.UTF_8));
            return body + "{\"rows\":" + (lines.size() - 1) + ",\"sha256\":\""
                    + HexFormat.of().formatHex(sha256) + "\"}\n";
        } catch (IOException | InterruptedException | NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void respond(HttpExchange exchange, String body) throws IOException {
        try (exchange) {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(body.getBytes(StandardCharsets.UTF_8));
        }
    }

    /** A snapshot is compared as of its offsets. */
    private void compareSnapshots() throws Exception {
        writeSnapshot(Long.MAX_VALUE, Map.of(Puri.parse("music:tracks:1"), onShard(rowOf("music:tracks:1"), "eu-9")));
        CommandLineRun differing = stack.verify("--part", "snapshot", "--snapshot", folder.toString());
        assertThat(differing.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(differences(differing, folder.toString()))
                .hasSize(TRACKS - 1)
                .filteredOn(difference -> name(difference).startsWith("music:tracks:1 "))
                .singleElement()
                .satisfies(difference -> {
                    assertThat(name(difference)).isEqualTo("music:tracks:1 differs");
                    assertThat(difference.path("fields").toString())
                            .isEqualTo("{\"shard\":{\"expected\":\"br-1\",\"found\":\"eu-9\"}}");
                });

        writeSnapshot(Long.MAX_VALUE, Map.of());
        CommandLineRun missing = stack.verify("--part", "snapshot", "--snapshot", folder.toString());
        assertThat(missing.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(differences(missing, folder.toString()))
                .hasSize(TRACKS - 1)
                .allMatch(difference -> difference.path("difference").asText().equals("missing"));

        writeSnapshot(0, Map.of());
        CommandLineRun early = stack.verify("--part", "snapshot", "--snapshot", folder.toString());
        assertThat(early.status()).as("nothing was compared").isEqualTo(ExitStatus.FAILED);
        assertThat(differences(early, folder.toString())).isEmpty();
        assertThat(early.out()).contains("no row of the source was compared", "changed after the snapshot");
    }

    private static Row onShard(Row row, String shard) {
        return new Row(
                row.uuid(),
                row.owner(),
                new Shard(shard),
                row.handle(),
                row.status(),
                row.epoch(),
                row.createdAt(),
                row.changedAt(),
                row.mergedInto(),
                row.position());
    }

    private void writeSnapshot(long maxOffset, Map<Puri, Row> rows) throws Exception {
        try (TopicAdmin topic =
                new TopicAdmin(Admin.create(stack.settings().interactiveProperties()), Topics.IDENTITIES)) {
            TopicEnds ends = topic.endOffsets(InstantSource.system());
            PackedTable table = new PackedTable();
            rows.forEach(table::put);
            ends.byPartition().forEach((partition, end) -> table.setNextOffset(partition, Math.min(end, maxOffset)));
            table.writeSnapshot(
                    Snapshots.fileIn(folder),
                    new SnapshotOrigin(ends.topicId(), ends.byPartition().size(), Instant.now()),
                    Instant.now());
            table.release();
        }
    }

    @Test
    void nothingIsRepairedFromAPartialChangelog() throws Exception {
        publishTracks();
        write("music:tracks:1", null);
        stack.deleteRecords(
                "puri-registry-registrations-changelog",
                IntStream.range(0, partitionCount()).boxed().toList());
        long end = endOfEvents();
        CommandLineRun run = stack.verify("--part", "registrar", "--repair", "--yes");
        assertThat(run.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(run.out()).contains("were deleted, so rows may be missing");
        assertThat(run.err()).contains("nothing was repaired, because the registrar's state could not be read");
        assertThat(endOfEvents()).isEqualTo(end);
    }

    @Test
    void noErasedIdentityIsWrittenAgainFromARestoredChangelog() throws Exception {
        publishTracks();
        restoreRegistration("music:tracks:34");
        long end = endOfEvents();
        CommandLineRun run = stack.verify("--part", "registrar", "--repair", "--yes");
        assertThat(run.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(differences(run, "puri.identities.v1").stream()
                        .map(VerifyIT::name)
                        .toList())
                .containsExactly("music:tracks:34 missing");
        assertThat(run.err()).contains("nothing was repaired", "newer rows or tombstones of 1 pURIs");
        assertThat(endOfEvents()).isEqualTo(end);
    }

    /** Appends to the registrar's changelog the last registration of a pURI that has a row. */
    private void restoreRegistration(String puri) throws Exception {
        send(registrationOf(puri, lastRegistration(puri).value()));
    }

    private ProducerRecord<byte[], byte[]> registrationOf(String puri, byte @Nullable [] value) {
        ConsumerRecord<byte[], byte[]> last = lastRegistration(puri);
        return new ProducerRecord<>(last.topic(), last.partition(), last.key(), value);
    }

    /** Returns the last registration of a pURI that has a row. */
    private ConsumerRecord<byte[], byte[]> lastRegistration(String puri) {
        byte[] key = RegistrarChangelogs.key(puri.getBytes(StandardCharsets.UTF_8));
        List<ConsumerRecord<byte[], byte[]>> registrations = new ArrayList<>();
        try (LogReader reader = stack.settings().logReader()) {
            reader.read(reader.beginningOffsets(reader.partitions(CHANGELOG)), record -> {
                if (Arrays.equals(record.key(), key)
                        && record.value() != null
                        && RegistrarChangelogs.registration(record.value()).row() != null) {
                    registrations.add(record);
                }
            });
        }
        return registrations.getLast();
    }

    private Row rowOf(String puri) {
        return Objects.requireNonNull(
                RegistrarChangelogs.registration(lastRegistration(puri).value()).row());
    }

    private int partition(String puri) {
        return Tokens.partition(Puri.parse(puri), partitionCount());
    }

    /** Replaces a text in a value by another one of the same length. */
    private static byte[] replace(byte[] value, String text, String replacement) {
        String latin1 = new String(value, StandardCharsets.ISO_8859_1);
        assertThat(latin1).contains(text);
        return latin1.replace(text, replacement).getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Returns the registration of a pURI with another position: an offset of 8 bytes, and then the partition. */
    private byte[] atPosition(String puri, int partition, long offset) {
        Position position = rowOf(puri).position();
        return replace(
                lastRegistration(puri).value(),
                positionText(position.partition(), position.offset()),
                positionText(partition, offset));
    }

    private static String positionText(int partition, long offset) {
        byte[] bytes = ByteBuffer.allocate(Long.BYTES + Integer.BYTES)
                .putLong(offset)
                .putInt(partition)
                .array();
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** Runs the checks, and ends with an error before the given one, as if the process was killed. */
    private void killAfter(int checks) throws IOException {
        try (RegistryReader registry = new RegistryReader(
                stack.settings().interactiveProperties(),
                "puri-registry",
                Duration.ofSeconds(60),
                new RateLimiter(null))) {
            List<Check> killed = new ArrayList<>();
            int[] left = {checks};
            for (Check check : registry.registrarChecks()) {
                killed.add(new KilledCheck(check, left));
            }
            assertThatThrownBy(() -> new CheckRunner(
                                    new VerifyFolder(folder), killed, registry.clusterId(), true, difference -> {})
                            .run(Instant.now()))
                    .isInstanceOf(Killed.class);
        }
    }

    private int partitionCount() {
        try (LogReader reader = stack.settings().logReader()) {
            return reader.partitions(Topics.EVENTS).size();
        }
    }

    private int completed() throws IOException {
        return Json.parse(Files.readString(folder.resolve("state.json")))
                .path("checks")
                .size();
    }

    private static final class Killed extends Error {
        private static final long serialVersionUID = 1L;
    }

    /** Ends with an error after it has reported its differences, if its turn has come. */
    private record KilledCheck(Check check, int[] left) implements Check {
        @Override
        public String part() {
            return check.part();
        }

        @Override
        public String copy() {
            return check.copy();
        }

        @Override
        public @Nullable Integer partition() {
            return check.partition();
        }

        @Override
        public long records() {
            return check.records();
        }

        @Override
        public Result run(Consumer<Difference> differences) {
            Result result = check.run(differences);
            if (--left[0] < 0) {
                throw new Killed();
            }
            return result;
        }
    }

    private void publishTracks() {
        stack.publishTracks(TRACKS);
        stack.publish("""
                {"type":"moved","puri":"music:tracks:30","shard":"us-1"}
                {"type":"described","puri":"music:tracks:31","attributes":{"title":"Other"}}
                {"type":"merged","puri":"music:tracks:32","into":"music:tracks:31"}
                {"type":"deleted","puri":"music:tracks:33"}
                {"type":"erased","puri":"music:tracks:34"}
                """);
    }

    private static Row row(String shard) {
        return new Row(
                UUID.fromString("01970000-0000-7000-8000-000000000001"),
                new Owner("catalog"),
                new Shard(shard),
                new Handle("trk_123456789abcdef"),
                Row.Status.ACTIVE,
                1,
                Instant.EPOCH,
                Instant.EPOCH,
                null,
                new Position(Topics.EVENTS, 0, 0));
    }

    private void write(String puri, @Nullable Row row) throws Exception {
        write(List.of(puri), row);
    }

    private void write(List<String> puris, @Nullable Row row) throws Exception {
        try (AvroSerializer serializer = new AvroSerializer()) {
            serializer.configure(stack.settings().clientProperties(), false);
            byte[] value = serializer.serialize(Topics.IDENTITIES, row == null ? null : RowAvro.toAvro(row));
            stack.send(puris.stream()
                    .map(puri -> new ProducerRecord<>(Topics.IDENTITIES, puri.getBytes(StandardCharsets.UTF_8), value))
                    .toList());
        }
    }

    private void writeDocument(String puri, String title) throws Exception {
        Row row = rowOf(puri);
        Document document = new Document(
                row.owner(), row.shard(), row.handle(), row.status(), null, Map.of("title", title), row.position());
        try (AvroSerializer serializer = new AvroSerializer()) {
            serializer.configure(stack.settings().clientProperties(), false);
            send(new ProducerRecord<>(
                    Topics.DOCUMENTS,
                    puri.getBytes(StandardCharsets.UTF_8),
                    serializer.serialize(Topics.DOCUMENTS, DocumentAvro.toAvro(document))));
        }
    }

    private void send(ProducerRecord<byte[], byte[]> record) throws Exception {
        stack.send(List.of(record));
    }

    private long endOfEvents() {
        try (LogReader reader = stack.settings().logReader()) {
            return reader.endOffsets(reader.partitions(Topics.EVENTS)).values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
        }
    }

    private static JsonNode summary(CommandLineRun run) {
        return Json.parse(run.outLines().getLast());
    }

    private static List<JsonNode> differences(CommandLineRun run, String copy) {
        return run.outLines().stream()
                .map(Json::parse)
                .filter(line -> line.path("copy").asText().equals(copy))
                .toList();
    }

    private static String name(JsonNode difference) {
        return difference.path("puri").asText() + " "
                + difference.path("difference").asText();
    }
}
