package dev.puri.resolver;

import static dev.puri.resolver.ServedRoutes.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.http.Listener;
import dev.puri.http.ListenerOptions;
import dev.puri.http.Metrics;
import dev.puri.http.Route;
import dev.puri.http.Scope;
import dev.puri.resolver.feed.TableKeeper.LiveTable;
import dev.puri.resolver.live.ChangeRing;
import dev.puri.resolver.live.ChangesOptions;
import dev.puri.resolver.live.Subscribers;
import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.testkit.Contract;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code GET /v1/export} over HTTP, of a table without a feed. */
@Timeout(120)
final class ExportsTest {
    private static final String TRACK = "soundcloud:tracks:123";

    /** More than the buffers of two operating systems for data that is sent and not read. */
    private static final int MANY = 150_000;

    /** Many rows, and one of another collection. Tests only read it. */
    private static final PackedTable LARGE = large();

    private final Metrics metrics = new Metrics();
    private final HttpClient client = HttpClient.newHttpClient();
    private final Contract contract = new Contract(client, "/openapi.json");
    private final Subscribers subscribers = Subscribers.start(
            ChangesOptions.of(10, Duration.ofDays(1), 2, 10_000, Duration.ofSeconds(1)),
            () -> {
                throw new KafkaException("no broker");
            },
            new InMemorySchemaRegistry(),
            InstantSource.system(),
            metrics.registry());
    private final PackedTable table = new PackedTable();
    private volatile @Nullable LiveTable<ChangeRing> source = source(table);
    private final AtomicLong nanos = new AtomicLong();
    private Listener listener;

    private LiveTable<ChangeRing> source(PackedTable of) {
        return new LiveTable<>(
                of, subscribers.create(Uuid.randomUuid(), new long[] {7, 8}, Instant.EPOCH, (puri, uuid) -> true));
    }

    @BeforeEach
    void start() {
        start(Duration.ofMinutes(1));
        put(TRACK, "br-1");
        put("debian:packages:a%2Fb", "br-2");
    }

    private void start(Duration stallTimeout) {
        Exports exports = new Exports(() -> source, 1, stallTimeout, nanos::get, metrics.registry());
        Route route = Route.get("/v1/export", Scope.CHANGES, exports::startExport)
                .withQueryParameters("collection", "format");
        listener = Listener.start(ListenerOptions.at("127.0.0.1", 0), List.of(route), metrics);
    }

    @AfterEach
    void stop() {
        listener.close();
        subscribers.close();
        metrics.close();
        client.close();
    }

    private void put(String puri, String shard) {
        table.put(Puri.parse(puri), Rows.active(shard));
    }

    private static PackedTable large() {
        PackedTable large = new PackedTable();
        for (int i = 0; i < MANY; i++) {
            large.put(Puri.parse("soundcloud:tracks:" + i), Rows.active("br-1"));
        }
        large.put(Puri.parse("debian:packages:a%2Fb"), Rows.active("br-2"));
        return large;
    }

    @Test
    void linesAreTheDefaultAndHaveTheCursorTwice() throws Exception {
        HttpResponse<String> export = contract.send(request("").build());

        assertThat(export.statusCode()).isEqualTo(200);
        assertThat(export.headers().firstValue("Content-Type")).contains("application/x-ndjson");
        List<String> lines = export.body().lines().toList();
        assertThat(lines).hasSize(4);
        String cursor = export.headers().firstValue("Puri-Changes-From").orElseThrow();
        assertThat(lines.getFirst()).isEqualTo("{\"changesFrom\":\"" + cursor + "\"}");
        assertThat(lines).contains("""
                {"puri":"soundcloud:tracks:123","owner":"catalog","shard":"br-1",\
                "uuid":"01970000-0000-7000-8000-000000000001","status":"active","epoch":3,\
                "createdAt":"2026-03-01T10:00:00.000Z","changedAt":"2026-03-02T10:00:00.120Z","position":"3-1042"}""");
        assertThat(lines.getLast()).startsWith("{\"rows\":2,\"sha256\":\"");
        await().untilAsserted(() -> {
            assertThat(exports("complete")).isEqualTo(1);
            assertThat(metrics.registry().get("puri.exports.rows").counter().count())
                    .isEqualTo(2);
            assertThat(running()).isZero();
        });
    }

    @Test
    void anAvroFileIsRequestedByNameOrByAccept() throws Exception {
        for (HttpRequest.Builder asking :
                List.of(request("?format=avro"), request("").header("Accept", "application/avro, */*;q=0.1"))) {
            HttpResponse<String> export = contract.send(asking.build());
            assertThat(export.headers().firstValue("Content-Type")).contains("application/avro");
            assertThat(export.body()).startsWith("Obj\u0001").contains("puri.changes-from");
            await().until(() -> running() == 0);
        }
        HttpResponse<String> either = contract.send(
                request("?format=ndjson").header("Accept", "application/avro").build());
        assertThat(either.headers().firstValue("Content-Type")).contains("application/x-ndjson");
    }

    @Test
    void exportsOnlyTheRequestedCollections() throws Exception {
        assertThat(contract.send(request("?collection=SoundCloud:Tracks&collection=a:b")
                                .build())
                        .body())
                .contains(TRACK, "\"rows\":1")
                .doesNotContain("debian");
    }

    @Test
    void namesInvalidParameters() throws Exception {
        assertThat(refused("?collection=tracks", 400)).contains("invalid-parameter", "collection: ");
        assertThat(refused("?format=xml", 400)).contains("invalid-parameter", "format: it must be ndjson or avro");
        assertThat(refused("?colection=a:b", 400)).contains("unknown-parameter");
        source = null;
        assertThat(refused("", 503)).contains("not-ready");
    }

    private String refused(String query, int status) throws Exception {
        HttpResponse<String> answer = contract.send(request(query).build());
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.headers().firstValue("Retry-After").isPresent()).isEqualTo(status == 503);
        return answer.body();
    }

    @Test
    void limitsExportsAndFreesTheSlotOfACancelledOne() throws Exception {
        source = source(LARGE);
        try (Socket slow = connect()) {
            assertThat(slow.getInputStream().read()).isEqualTo('H');

            assertThat(refused("", 503)).contains("too-many-exports");
            assertThat(running()).isEqualTo(1);
        }
        await().atMost(Duration.ofSeconds(60)).until(() -> exports("gone") == 1);
        assertThat(contract.send(request("?collection=debian:packages").build()).statusCode())
                .isEqualTo(200);
    }

    @Test
    void aStalledReaderIsDisconnected() throws Exception {
        listener.close();
        start(Duration.ofMillis(500));
        source = source(LARGE);
        try (Socket stalled = connect()) {
            await().atMost(Duration.ofSeconds(60)).until(() -> exports("stalled") == 1);

            assertThat(rest(stalled)).doesNotContain("\"sha256\"");
            assertThat(contract.send(request("?collection=debian:packages").build())
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void anExportIsCutOffWhenItsTableIsReplaced() throws Exception {
        source = source(LARGE);
        HttpResponse<InputStream> export = client.send(request("").build(), HttpResponse.BodyHandlers.ofInputStream());
        try (InputStream in = export.body()) {
            in.readNBytes(1_000);
            source = source(new PackedTable());

            assertThatThrownBy(in::readAllBytes).isInstanceOf(IOException.class);
        }
        await().atMost(Duration.ofSeconds(60)).until(() -> exports("cancelled") == 1);
    }

    /** Its memory is freed only when nobody reads it. */
    @Test
    void aReaderThatReadsNothingIsDisconnectedWhenItsTableIsReplaced() throws Exception {
        listener.close();
        start(Duration.ofHours(1));
        source = source(LARGE);
        try (Socket stalled = connect()) {
            assertThat(stalled.getInputStream().read()).isEqualTo('H');
            source = source(new PackedTable());
            await().atMost(Duration.ofSeconds(60)).until(() -> exports("cancelled") == 1);
        }
    }

    @Test
    void anExportThatTakesTooLongIsCutOff() throws Exception {
        source = source(LARGE);
        try (Socket slow = connect()) {
            assertThat(slow.getInputStream().read()).isEqualTo('H');
            nanos.addAndGet(Exports.MAX_DURATION.toNanos());
            await().atMost(Duration.ofSeconds(50)).until(() -> exports("cancelled") == 1);
        }
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(16 << 10);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.port()));
        socket.setSoTimeout(20_000);
        socket.getOutputStream()
                .write("GET /v1/export HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static String rest(Socket socket) {
        try {
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "";
        }
    }

    private double exports(String end) {
        return metrics.registry().get("puri.exports").tag("end", end).counter().count();
    }

    private double running() {
        return metrics.registry().get("puri.exports.running").gauge().value();
    }

    private HttpRequest.Builder request(String query) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + listener.port() + "/v1/export" + query));
    }
}
