package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.http.Health;
import dev.puri.http.Listener;
import dev.puri.http.ListenerOptions;
import dev.puri.http.Metrics;
import dev.puri.http.Route;
import dev.puri.projection.DeclaredCollections;
import dev.puri.projection.RefusalLog;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.ReadYourWrites;
import dev.puri.projection.wait.WaitParameters;
import dev.puri.projection.wait.Waiters;
import dev.puri.resolver.feed.TableRows;
import dev.puri.resolver.live.ChangesOptions;
import dev.puri.resolver.live.Subscribers;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.Table;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.testkit.Contract;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.avro.Schema;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/**
 * Base of tests of the resolver's internal routes: a listener with all of them, over a table of six rows. The feeds of
 * changes, refusals and collections reach no broker.
 */
@Timeout(60)
abstract class ServedRoutes {
    static final String HANDLE = "trk_4k7vx9tz2nqr8w3";
    static final int MAX_REFS = 1000;
    static final int PARTITIONS = 8;
    private static final Map<String, Object> REBUILD = rebuild();

    private final PackedTable filled = new PackedTable();
    final OutcomeCache outcomes = new OutcomeCache(new SimpleMeterRegistry());
    final Waiters waiters = new Waiters(30);
    private final Metrics metrics = new Metrics();
    final HttpClient client = HttpClient.newHttpClient();
    final Contract contract = new Contract(client, "/openapi.json");
    volatile @Nullable Table table = filled;
    volatile Declarations declarations = Declarations.none();
    volatile @Nullable String lag;
    volatile @Nullable Map<String, Object> digests;
    volatile @Nullable String rebuildRefusal;
    private Subscribers subscribers;
    private RefusalLog refusals;
    private DeclaredCollections collections;
    List<Route> routes;
    Listener listener;

    @BeforeEach
    void start() {
        TopicHandlers topicHandlers = topicHandlers();
        LookUps lookUps = new LookUps(
                () -> table,
                () -> "12 of 30 records are in",
                () -> declarations,
                new ReadYourWrites(
                        new TableRows(() -> table), outcomes, refusals, waiters, () -> PARTITIONS, metrics.registry()),
                new LookUps.Limits(MAX_REFS, new WaitParameters(Duration.ofSeconds(20))),
                metrics.registry());
        routes = Routes.of(
                lookUps,
                topicHandlers,
                new Exports(() -> null, 1, metrics.registry()),
                new Search(null),
                new TableAdmin(() -> table, () -> digests, () -> rebuildRefusal, () -> REBUILD),
                new Health(),
                metrics,
                new Route.DynamicHeader(Routes.LAG, () -> lag));
        listener = Listener.start(ListenerOptions.at("127.0.0.1", 0), routes, metrics);
        put("soundcloud:tracks:123", Rows.active("br-1", HANDLE));
        put("soundcloud:tracks:124", Rows.active("br-2"));
        put("soundcloud:tracks:merged", Rows.mergedInto("soundcloud:tracks:124"));
        put("soundcloud:tracks:lost", Rows.mergedInto("soundcloud:tracks:nowhere"));
        put("soundcloud:tracks:gone", Rows.deleted(null));
        put("debian:packages:a%2Fb", Rows.active("br-1"));
    }

    private static Map<String, Object> rebuild() {
        Map<String, Object> rebuild = new LinkedHashMap<>();
        rebuild.put("state", "running");
        rebuild.put("rows", 6L);
        rebuild.put("reached", 4L);
        rebuild.put("end", 9L);
        return rebuild;
    }

    /** Returns handlers whose broker is unreachable. */
    private TopicHandlers topicHandlers() {
        Supplier<Consumer<byte[], byte[]>> consumers = () -> {
            throw new KafkaException("no broker");
        };
        SchemaRegistry registry = new NoSchemas();
        InstantSource clock = InstantSource.system();
        ChangesOptions options = ChangesOptions.of(10, Duration.ofDays(1), 2, 10_000, Duration.ofSeconds(1));
        subscribers = Subscribers.start(options, consumers, registry, clock, metrics.registry());
        // No request waits for the details of a refusal, because they never come.
        refusals = RefusalLog.start(consumers, registry, 10, Duration.ofDays(30), 0, clock, metrics.registry());
        collections = DeclaredCollections.start(consumers, registry, Duration.ofSeconds(1), clock, metrics.registry());
        return new TopicHandlers(subscribers, refusals, collections, () -> table, () -> 12L, () -> null, options);
    }

    private static final class NoSchemas implements SchemaRegistry {
        @Override
        public Schema byId(int id) {
            throw new IllegalStateException();
        }

        @Override
        public int register(String subject, Schema schema) {
            throw new IllegalStateException();
        }

        @Override
        public int idOf(String subject, Schema schema) {
            throw new IllegalStateException();
        }

        @Override
        public void close() {}
    }

    @AfterEach
    void stop() {
        listener.close();
        subscribers.close();
        refusals.close();
        collections.close();
        waiters.close();
        metrics.close();
        client.close();
    }

    /** Waits, and looks every 10 ms, because routes answer within milliseconds. */
    static ConditionFactory await() {
        return Awaitility.await().pollInterval(Duration.ofMillis(10));
    }

    void put(String puri, Row row) {
        filled.put(Puri.parse(puri), row);
    }

    String get(String path, int status) {
        return answered(send("GET", path, null), status);
    }

    String post(String body, int status) {
        return post(body.getBytes(StandardCharsets.UTF_8), status);
    }

    String post(byte[] body, int status) {
        return answered(send("POST", "/v1/resolve", body), status);
    }

    static String answered(HttpResponse<String> response, int status) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        return response.body();
    }

    URI uri(String path) {
        return URI.create("http://127.0.0.1:" + listener.port() + path);
    }

    HttpResponse<String> send(String method, String path, byte @Nullable [] body) {
        HttpRequest request = HttpRequest.newBuilder(uri(path))
                .method(
                        method,
                        body == null
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
        return contract.sendAsync(request).join();
    }
}
