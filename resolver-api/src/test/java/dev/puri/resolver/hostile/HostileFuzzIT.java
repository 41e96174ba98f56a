package dev.puri.resolver.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.UnixOperatingSystemMXBean;
import dev.puri.resolver.Resolver;
import dev.puri.resolver.ResolverSettings;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.settings.Settings;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.SchemaRegistryFixture;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * A resolver with both its listeners under {@link HostileRequests}, over raw sockets. A failure is reported with its
 * seed; {@code -Dpuri.hostile.seed=SEED -Dpuri.hostile.requests=1} sends it alone. The profile {@code nightly} sends
 * more of them, from a seed that differs each night.
 */
@Timeout(1800)
@Isolated("compares the memory and the file descriptors of this process")
final class HostileFuzzIT {
    private static final int REQUESTS = Integer.getInteger("puri.hostile.requests", 10_000);
    private static final long SEED = Long.getLong("puri.hostile.seed", 1);
    private static final int CLIENTS = 4;

    /** The allowed growth of this process's heap, broker included, for any number of requests. */
    private static final long SLACK_BYTES = 24 << 20;

    private static final int SLACK_DESCRIPTORS = 30;
    private static final int SLOW = 500;

    private static final String OWNER = "owner-nobody-may-know";
    private static final String SHARD = "shard-nobody-may-know";
    private static final UUID UUID_7 = UUID.fromString("0197c3a2-5b1e-7abc-8e9f-0a1b2c3d4e5f");
    private static final List<String> SECRETS =
            List.of(OWNER, SHARD, UUID_7.toString(), UUID_7.toString().replace("-", ""));
    private static final List<String> KNOWN = List.of(
            "soundcloud:tracks:1",
            "trk_4k7vx9tz2nqr8w3",
            "soundcloud:tracks:merged",
            "trk_555555555555555",
            "soundcloud:tracks:gone",
            "debian:packages:a%2Fb",
            "a:b:c");
    private static final String BEARER = "hostile-but-allowed";

    private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9-]+: [\\x20-\\x7e]*");
    private static final Pattern STATUS = Pattern.compile("(?m)^HTTP/1\\.[01] (\\d{3}) ");
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private static Path folder;

    private static RestartableBroker broker;
    private static Resolver resolver;

    @BeforeAll
    static void start() throws Exception {
        broker = Broker.start();
        String registry = SchemaRegistryFixture.shared().url();
        fill(registry);
        resolver = start(registry, Map.of());
    }

    @AfterAll
    static void stop() {
        resolver.close();
        broker.close();
    }

    private static Resolver start(String registry, Map<String, String> more) throws Exception {
        String hash = HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(BEARER.getBytes(StandardCharsets.UTF_8)));
        Path tokens = Files.writeString(folder.resolve("tokens"), "fuzzer resolve,changes,admin " + hash);
        Map<String, String> settings = new HashMap<>(Map.of(
                "PURI_BOOTSTRAP_SERVER", broker.bootstrapServers(),
                "PURI_SCHEMA_REGISTRY", registry,
                "PURI_HTTP_PORT", "0",
                "PURI_PUBLIC_HTTP_PORT", "0",
                "PURI_PUBLIC_ANONYMOUS", "true",
                "PURI_AUTH_TOKENS", tokens.toString(),
                // The server notices a disconnected client at the next event.
                "PURI_CHANGES_HEARTBEAT", "1s",
                "PURI_DRAIN_DELAY", "0s"));
        settings.putAll(more);
        Resolver started = Resolver.start(Settings.read(ResolverSettings.class, Map.of(), settings, null));
        await().atMost(Duration.ofSeconds(60)).until(started::isReady);
        return started;
    }

    private static void fill(String registry) throws Exception {
        RecordWriter<IdentityRow> rows = RecordWriter.of(IdentityRow.class);
        int schema;
        try (ConfluentSchemaRegistry schemas =
                ConfluentSchemaRegistry.create(Map.of("schema.registry.url", registry))) {
            schema = schemas.register(Topics.IDENTITIES + "-value", rows.schema());
        }
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
                KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                        Map.of("bootstrap.servers", broker.bootstrapServers()),
                        new ByteArraySerializer(),
                        new ByteArraySerializer())) {
            admin.createTopics(List.of(
                            new NewTopic(Topics.IDENTITIES, 3, (short) 1),
                            new NewTopic(Topics.COLLECTIONS, 1, (short) 1),
                            new NewTopic(Topics.REJECTIONS, 1, (short) 1)))
                    .all()
                    .get();
            Map<Puri, Row> all = Map.of(
                    Puri.parse("soundcloud:tracks:1"), row(Row.Status.ACTIVE, "trk_4k7vx9tz2nqr8w3", null),
                    Puri.parse("soundcloud:tracks:merged"),
                            row(Row.Status.MERGED, "trk_555555555555555", "soundcloud:tracks:1"),
                    Puri.parse("soundcloud:tracks:gone"), row(Row.Status.DELETED, null, null),
                    Puri.parse("debian:packages:a%2Fb"), row(Row.Status.ACTIVE, null, null));
            for (Map.Entry<Puri, Row> each : all.entrySet()) {
                producer.send(new ProducerRecord<>(
                                Topics.IDENTITIES,
                                each.getKey().toBytes(),
                                rows.encode(schema, RowAvro.toAvro(each.getValue()))))
                        .get();
            }
        }
    }

    private static Row row(Row.Status status, @Nullable String handle, @Nullable String into) {
        return new Row(
                UUID_7,
                new Owner(OWNER),
                new Shard(SHARD),
                handle == null ? null : new Handle(handle),
                status,
                3,
                Instant.EPOCH,
                Instant.EPOCH,
                into == null ? null : Puri.parse(into),
                new Position(Topics.EVENTS, 0, 7));
    }

    @Test
    void hostileRequestsLeaveNothingBehind() throws Exception {
        ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.ADVANCED);
        try (LogWatch log = new LogWatch()) {
            int warmUp = Math.min(REQUESTS / 2, 2000);
            send(0, warmUp);
            Left before = Left.now();
            send(warmUp, REQUESTS);
            Left after = Left.now();

            assertThat(log.wrong()).isEmpty();
            assertThat(log.requests()).as("requests that were logged").isGreaterThan(REQUESTS / 2);
            assertThat(after.descriptors).isLessThanOrEqualTo(before.descriptors + SLACK_DESCRIPTORS);
            assertThat(after.heap).isLessThanOrEqualTo(before.heap + SLACK_BYTES);
            assertThat(after.direct).isLessThanOrEqualTo(before.direct + SLACK_BYTES);
        } finally {
            ResourceLeakDetector.setLevel(level);
        }
    }

    /** Sends the requests of a range of numbers, to both listeners in turn. */
    private static void send(int from, int to) throws Exception {
        AtomicLong next = new AtomicLong(from);
        List<Future<?>> clients = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(threads.submit(() -> {
                    for (long number = next.getAndIncrement(); number < to; number = next.getAndIncrement()) {
                        HostileRequest request = HostileRequests.of(SEED + number, KNOWN, BEARER);
                        try {
                            check(request);
                        } catch (IOException | AssertionError | RuntimeException e) {
                            // The others need not continue.
                            next.set(to);
                            throw new AssertionError(request + "\n" + e, e);
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> client : clients) {
                client.get();
            }
        }
    }

    private static void check(HostileRequest request) throws IOException {
        boolean isPublic = request.seed() % 2 == 0;
        RawAnswer answer =
                RawAnswer.to(request, isPublic ? resolver.publicPort().orElseThrow() : resolver.port());
        if (answer.text().isEmpty()) {
            return;
        }
        assertThat(answer.head()).startsWith("HTTP/1.");
        Matcher statuses = STATUS.matcher(answer.text());
        while (statuses.find()) {
            requireNoFault(request, Integer.parseInt(statuses.group(1)), answer);
        }
        for (String line :
                answer.head().substring(0, answer.head().indexOf("\r\n\r\n")).split("\r\n", -1)) {
            assertThat(line).doesNotStartWithIgnoringCase("X-Forged");
            if (!line.startsWith("HTTP/1.")) {
                assertThat(line).matches(HEADER);
            }
        }
        if (request.answers() == 1 && !request.isHead()) {
            requireJson(answer);
        }
        if (isPublic) {
            String lower = answer.text().toLowerCase(Locale.ROOT);
            for (String secret : SECRETS) {
                assertThat(lower).doesNotContain(secret);
            }
        }
    }

    private static void requireNoFault(HostileRequest request, int status, RawAnswer answer) {
        boolean isLate =
                answer.text().contains("\"not-caught-up\"") || request.text().contains("HEAD ");
        boolean isDue = status < 500
                || (status == 503 && request.mayBeBusy())
                || (status == 504 && request.mayWait() && isLate);
        if (!isDue) {
            fail("answered with " + status + ": " + answer.text());
        }
    }

    /** A response with a JSON type is JSON, and a problem names its type. */
    private static void requireJson(RawAnswer answer) throws JsonProcessingException {
        String head = answer.head().toLowerCase(Locale.ROOT);
        if (head.contains("content-type: application/json")) {
            assertThat(parsed(answer).isContainerNode()).isTrue();
        } else if (head.contains("content-type: application/problem+json")) {
            JsonNode problem = parsed(answer);
            assertThat(problem.at("/type").asText()).startsWith("https://puri.dev/problems/");
            assertThat(problem.at("/status").asInt()).isEqualTo(answer.status());
        }
    }

    private static JsonNode parsed(RawAnswer answer) throws JsonProcessingException {
        return JSON.readTree(new String(answer.body().getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8));
    }

    @Test
    void slowRequestsAreDisconnectedWhileOthersAreAnswered() throws Exception {
        try (Resolver guarded = start(
                        SchemaRegistryFixture.shared().url(),
                        Map.of("PURI_HEADER_TIMEOUT", "2s", "PURI_BODY_TIMEOUT", "2s"));
                Dripping headers = new Dripping(
                        guarded.port(), "GET /v1/identities/a:b:c HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", SLOW);
                Dripping bodies = new Dripping(
                        guarded.port(),
                        "POST /v1/resolve HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + BEARER
                                + "\r\nContent-Length: 100000\r\n\r\n{\"refs\":[",
                        SLOW)) {
            await().atMost(Duration.ofSeconds(60))
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(200))
                    .until(() -> {
                        assertThat(ask(guarded.port(), "/v1/identities/soundcloud:tracks:1"))
                                .startsWith("HTTP/1.1 200 ");
                        return headers.drip() + bodies.drip() == 0;
                    });

            assertThat(headers.answers).hasSize(SLOW).allMatch(answer -> answer.startsWith("HTTP/1.1 408 "));
            assertThat(bodies.answers).hasSize(SLOW).allMatch(answer -> answer.startsWith("HTTP/1.1 408 "));
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> metric(guarded.port(), "puri_http_connections{listener=\"internal\"}") == 1);
        }
    }

    /** Clients that begin a request, and then send a byte now and then. */
    private static final class Dripping implements AutoCloseable {
        private final List<Socket> open = new ArrayList<>();

        /** The answers that closed connections received. */
        private final List<String> answers = new ArrayList<>();

        Dripping(int port, String beginning, int count) throws IOException {
            for (int i = 0; i < count; i++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                open.add(socket);
                socket.setSoTimeout(1);
                socket.getOutputStream().write(beginning.getBytes(StandardCharsets.ISO_8859_1));
            }
        }

        /** Each client that is still connected sends a byte; returns their number. */
        int drip() {
            open.removeIf(socket -> !drips(socket));
            return open.size();
        }

        private boolean drips(Socket socket) {
            try {
                byte[] answer = new byte[200];
                int length = socket.getInputStream().read(answer);
                answers.add(length < 0 ? "" : new String(answer, 0, length, StandardCharsets.ISO_8859_1));
            } catch (SocketTimeoutException e) {
                try {
                    socket.getOutputStream().write('a');
                    return true;
                } catch (IOException closed) {
                    answers.add("");
                }
            } catch (IOException e) {
                answers.add("");
            }
            close(socket);
            return false;
        }

        private static void close(Socket socket) {
            try {
                socket.close();
            } catch (IOException e) {
                // The connection is closed anyway.
            }
        }

        @Override
        public void close() {
            open.forEach(Dripping::close);
        }
    }

    /** The state after all clients have disconnected. */
    private record Left(long heap, long direct, long descriptors) {
        static Left now() {
            // The connection of this request.
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> metric(resolver.port(), "puri_http_connections{listener=\"internal\"}") == 1
                            && metric(resolver.port(), "puri_http_connections{listener=\"public\"}") == 0
                            && metric(resolver.port(), "puri_waiters") == 0
                            && metric(resolver.port(), "puri_changes_streams") == 0);
            assertThat(fdsOf(ManagementFactory.getOperatingSystemMXBean())).isPositive();
            MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
            memory.gc();
            memory.gc();
            return new Left(
                    memory.getHeapMemoryUsage().getUsed(),
                    PlatformDependent.usedDirectMemory(),
                    fdsOf(ManagementFactory.getOperatingSystemMXBean()));
        }

        private static long fdsOf(Object system) {
            return system instanceof UnixOperatingSystemMXBean unix ? unix.getOpenFileDescriptorCount() : 1;
        }
    }

    private static double metric(int port, String name) throws IOException {
        return ask(port, "/metrics")
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(name.length())))
                .findFirst()
                .orElseThrow(() -> new IOException("there is no " + name));
    }

    private static String ask(int port, String path) throws IOException {
        String text = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + BEARER + "\r\n\r\n";
        return RawAnswer.to(new HostileRequest(0, text, 1, false), port).text();
    }
}
