package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.http.Health;
import dev.puri.http.Listener;
import dev.puri.http.ListenerOptions;
import dev.puri.http.Metrics;
import dev.puri.http.ProblemType;
import dev.puri.http.Route;
import dev.puri.resolver.feed.TableRows;
import dev.puri.resolver.live.ChangesOptions;
import dev.puri.resolver.live.Subscribers;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.Table;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.collection.WriteMode;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.tail.DeclaredCollections;
import dev.puri.tail.RefusalLog;
import dev.puri.tail.wait.OutcomeCache;
import dev.puri.tail.wait.ReadYourWrites;
import dev.puri.tail.wait.WaitParameters;
import dev.puri.tail.wait.Waiters;
import dev.puri.testkit.Contract;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class RoutesTest {
    private static final String HANDLE = "trk_4k7vx9tz2nqr8w3";
    private static final int MAX_REFS = 1000;
    private static final int PARTITIONS = 8;

    /** A name in the partition of the event whose position the tests' rows have. */
    private static final String OF_THE_EVENT = nameInPartition(3);

    private static final ObjectMapper JSON = new ObjectMapper();

    private final PackedTable filled = new PackedTable();
    private final OutcomeCache outcomes = new OutcomeCache(new SimpleMeterRegistry());
    private final Waiters waiters = new Waiters(30);
    private final Metrics metrics = new Metrics();
    private final HttpClient client = HttpClient.newHttpClient();
    private final Contract contract = new Contract(client, "/openapi.json");
    private volatile @Nullable Table table = filled;
    private volatile Declarations declarations = Declarations.none();
    private volatile @Nullable String lag;
    private Subscribers subscribers;
    private RefusalLog refusals;
    private DeclaredCollections collections;
    private List<Route> routes;
    private Listener listener;

    @BeforeEach
    void start() {
        Feeds feeds = feeds();
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
                feeds,
                new Exports(() -> null, 1, metrics.registry()),
                new Search(null),
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

    /** Returns feeds of an unreachable broker. */
    private Feeds feeds() {
        Supplier<Consumer<byte[], byte[]>> consumers = () -> {
            throw new KafkaException("no broker");
        };
        SchemaRegistry registry = new NoSchemas();
        InstantSource clock = InstantSource.system();
        ChangesOptions options = ChangesOptions.of(10, Duration.ofDays(1), 2, 10_000, Duration.ofSeconds(1));
        subscribers = Subscribers.start(options, consumers, registry, clock, metrics.registry());
        refusals = RefusalLog.start(consumers, registry, 10, Duration.ofDays(30), 10, clock, metrics.registry());
        collections = DeclaredCollections.start(consumers, registry, Duration.ofSeconds(1), clock, metrics.registry());
        return new Feeds(subscribers, refusals, collections, () -> table, () -> 12L, () -> null, options);
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

    @Test
    void routesAreNotReadyBeforeTheirDataIsRead() {
        assertThat(get("/v1/changes", 503)).contains("/problems/not-ready");
        assertThat(get("/v1/export", 503)).contains("/problems/not-ready");
        assertThat(get("/v1/collections", 503)).contains("/problems/not-ready");
        assertThat(get("/v1/rejections", 200)).isEqualTo("{\"rejections\":[],\"complete\":false}\n");
        assertThat(get("/v1/stats", 200)).contains("\"rows\":6").contains("\"records\":12");
    }

    @Test
    void parametersThatCannotBeAreNamed() {
        assertThat(get("/v1/changes?collection=tracks", 400)).contains("/problems/invalid-parameter");
        assertThat(get("/v1/changes?collection=a:b&collection=tracks", 400)).contains("\\\"tracks\\\"");
        // A name may contain a comma.
        assertThat(get("/v1/changes?collection=a:b,c", 503)).contains("/problems/not-ready");
        assertThat(get("/v1/rejections?limit=0", 400)).contains("/problems/invalid-parameter", "limit");
        assertThat(get("/v1/rejections?position=x", 400)).contains("/problems/invalid-parameter", "position");
        assertThat(get("/v1/rejections?puri=x", 400)).contains("/problems/invalid-parameter", "puri");
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

    private static String nameInPartition(int partition) {
        for (int i = 0; ; i++) {
            Puri puri = Puri.parse("soundcloud:tracks:w" + i);
            if (Utils.toPositive(Utils.murmur2(puri.toBytes())) % PARTITIONS == partition) {
                return puri.toString();
            }
        }
    }

    @Test
    void aTokenIsAnsweredOnceItsEventIsSeen() throws Exception {
        CompletableFuture<HttpResponse<String>> waiting =
                contract.sendAsync(HttpRequest.newBuilder(uri("/v1/identities/" + OF_THE_EVENT + "?at=3-1042&wait=20s"))
                        .build());
        await().until(() -> waiters.count() == 1);
        assertThat(waiting).isNotDone();

        put(OF_THE_EVENT, Rows.active("br-1"));
        waiters.wake(Puri.parse(OF_THE_EVENT));

        assertThat(waiting.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
        assertThat(get("/v1/identities/" + OF_THE_EVENT + "?at=3-1000", 200)).contains("\"verdict\":\"found\"");
        assertThat(get("/v1/identities/" + OF_THE_EVENT + "?at=3-1043", 504))
                .startsWith("{\"ref\":\"" + OF_THE_EVENT + "\",\"verdict\":\"not-caught-up\",\"puri\":\"" + OF_THE_EVENT
                        + "\",\"at\":\"3-1043\",\"detail\":\"the event 3-1043 is pending: ");
    }

    @Test
    void aRefusedEventIsAConflict() {
        outcomes.refused(Puri.parse(OF_THE_EVENT), Position.parse("3-7"), Reason.PURI_TAKEN);

        assertThat(get("/v1/identities/" + OF_THE_EVENT + "?at=3-7", 409))
                .isEqualTo("{\"ref\":\"" + OF_THE_EVENT + "\",\"verdict\":\"refused\",\"puri\":\"" + OF_THE_EVENT
                        + "\",\"at\":\"3-7\",\"reason\":\"PURI_TAKEN\"}\n");
    }

    @Test
    void invalidTokensAndWaitsAreRefused() {
        String path = "/v1/identities/" + OF_THE_EVENT;
        assertThat(get(path + "?at=4-7", 400)).contains("/problems/foreign-token");
        for (String none :
                List.of("x", "03-1", "3-+1", "3-9223372036854775808", "3-1%0D%0Ax", "", "3-".repeat(3_000))) {
            assertThat(get(path + "?at=" + none, 400)).as(none).contains("/problems/invalid-token");
        }
        assertThat(get(path + "?wait=2s", 400)).contains("/problems/invalid-parameter");
        assertThat(get(path + "?at=3-7&wait=21s", 400)).contains("/problems/invalid-parameter");
        assertThat(get(path + "?at=3-7&wait=soon", 400)).contains("/problems/invalid-parameter");
    }

    @Test
    void aBatchWaitsForAllItsTokens() throws Exception {
        outcomes.refused(Puri.parse(OF_THE_EVENT), Position.parse("3-7"), Reason.PURI_TAKEN);
        String body = "{\"refs\":[\"soundcloud:tracks:123\",{\"ref\":\"" + OF_THE_EVENT + "\",\"at\":\"3-1042\"},"
                + "{\"ref\":\"" + OF_THE_EVENT + "\",\"at\":\"3-7\"},{\"ref\":\"" + OF_THE_EVENT
                + "\",\"at\":\"nothing\"},{\"ref\":\"" + OF_THE_EVENT + "\"}]}";
        CompletableFuture<HttpResponse<String>> waiting =
                contract.sendAsync(HttpRequest.newBuilder(uri("/v1/resolve?wait=20s"))
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build());
        await().until(() -> waiters.count() == 1);

        put(OF_THE_EVENT, Rows.active("br-1"));
        waiters.wake(Puri.parse(OF_THE_EVENT));

        JsonNode results =
                JSON.readTree(waiting.get(20, TimeUnit.SECONDS).body()).get("results");
        assertThat(results)
                .extracting(result -> result.get("verdict").asText())
                .containsExactly("found", "found", "refused", "malformed", "found");
    }

    @Test
    void aConnectionWithTooManyWaitsDoesNotPreventOthersFromWaiting() throws Exception {
        String ref = "{\"ref\":\"" + OF_THE_EVENT + "\",\"at\":\"3-2000\"}";
        HttpResponse<String> tooMuch = contract.send(HttpRequest.newBuilder(uri("/v1/resolve?wait=20s"))
                .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"refs\":[" + ref + "," + ref + "," + ref + "," + ref + "]}"))
                .build());
        assertThat(tooMuch.statusCode()).isEqualTo(503);
        assertThat(tooMuch.body()).contains("/problems/too-many-waiters", "3 requests of this connection");
        assertThat(waiters.count()).isZero();

        CompletableFuture<HttpResponse<String>> other =
                contract.sendAsync(HttpRequest.newBuilder(uri("/v1/identities/" + OF_THE_EVENT + "?at=3-2000&wait=20s"))
                        .build());
        await().until(() -> waiters.count() == 1);
        waiters.close();
        assertThat(other.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(504);
    }

    @Test
    void tooManyWaitsAre503() {
        List<CompletableFuture<HttpResponse<String>>> waiting = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            waiting.add(contract.sendAsync(
                    HttpRequest.newBuilder(uri("/v1/identities/" + OF_THE_EVENT + "?at=3-2000&wait=20s"))
                            .build()));
        }
        await().until(() -> waiters.count() == 30);

        assertThat(get("/v1/identities/" + OF_THE_EVENT + "?at=3-2000&wait=20s", 503))
                .contains("/problems/too-many-waiters");
        waiters.close();
        assertThat(waiting)
                .allSatisfy(
                        answer -> assertThat(answer.get(20, TimeUnit.SECONDS).statusCode())
                                .isEqualTo(504));
    }

    @Test
    void waitsOfADisconnectedClientEnd() throws Exception {
        try (Socket socket = new Socket("127.0.0.1", listener.port())) {
            socket.getOutputStream()
                    .write(("GET /v1/identities/" + OF_THE_EVENT
                                    + "?at=3-2000&wait=20s HTTP/1.1\r\nHost: localhost\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            await().until(() -> waiters.count() == 1);
        }
        await().until(() -> waiters.count() == 0);
    }

    @Test
    void aFoundIdentityIsAnsweredWithAllFields() {
        assertThat(get("/v1/identities/SoundCloud:Tracks:123", 200)).isEqualTo("""
                        {"ref":"SoundCloud:Tracks:123","verdict":"found","puri":"soundcloud:tracks:123",\
                        "handle":"trk_4k7vx9tz2nqr8w3","owner":"catalog","shard":"br-1",\
                        "uuid":"01970000-0000-7000-8000-000000000001","status":"active","epoch":3,\
                        "createdAt":"2026-03-01T10:00:00.000Z","changedAt":"2026-03-02T10:00:00.120Z"}
                        """);
    }

    @Test
    void unknownNamesOfACollectionThatIsBeingImportedAreMarked() throws Exception {
        declarations = Declarations.of(List.of(
                new Collection("soundcloud", "tracks", Prefix.parse("trk"), Set.of(), false, false, "", false),
                new Namespace("soundcloud", false, WriteMode.importBy("legacy-import"))));
        assertThat(get("/v1/identities/SoundCloud:Tracks:none", 404))
                .isEqualTo("{\"ref\":\"SoundCloud:Tracks:none\",\"verdict\":\"unknown\","
                        + "\"puri\":\"soundcloud:tracks:none\",\"importing\":true}\n");
        for (String mark : List.of("", "\\u0020")) { // a plain batch, and one that a JSON parser reads
            String body = "{\"refs\":[\"soundcloud:tracks:none\",\"trk_222222222222222\",\"soundcloud:tracks:123\","
                    + "\"soundcloud:tracks:gone\",\"debian:packages:x\",\"usr_222222222222222\","
                    + "\"nothing" + mark + "\"]}";
            assertThat(JSON.readTree(post(body, 200)).get("results"))
                    .extracting(result -> result.path("importing").asBoolean())
                    .containsExactly(true, true, false, false, false, false, false);
        }
        declarations = Declarations.none();
        assertThat(get("/v1/identities/soundcloud:tracks:none", 404)).doesNotContain("importing");
    }

    @Test
    void aHandleIsAnsweredWithItsName() {
        assertThat(get("/v1/identities/" + HANDLE, 200))
                .startsWith("{\"ref\":\"" + HANDLE + "\",\"verdict\":\"found\",\"puri\":\"soundcloud:tracks:123\"");
    }

    @Test
    void mergedIsAnsweredWithItsSurvivorsPlacement() {
        assertThat(get("/v1/identities/soundcloud:tracks:merged", 200)).isEqualTo("""
                        {"ref":"soundcloud:tracks:merged","verdict":"merged","puri":"soundcloud:tracks:merged",\
                        "canonical":"soundcloud:tracks:124","owner":"catalog","shard":"br-2",\
                        "uuid":"01970000-0000-7000-8000-000000000001","status":"merged","epoch":3,\
                        "createdAt":"2026-03-01T10:00:00.000Z","changedAt":"2026-03-02T10:00:00.120Z"}
                        """);
    }

    @Test
    void deletedIsGone() {
        assertThat(get("/v1/identities/soundcloud:tracks:gone", 410)).isEqualTo("""
                        {"ref":"soundcloud:tracks:gone","verdict":"deleted","puri":"soundcloud:tracks:gone",\
                        "status":"deleted","epoch":3,\
                        "createdAt":"2026-03-01T10:00:00.000Z","changedAt":"2026-03-02T10:00:00.120Z"}
                        """);
    }

    @Test
    void unknownIsNotFound() {
        assertThat(get("/v1/identities/SoundCloud:tracks:0", 404))
                .isEqualTo(
                        "{\"ref\":\"SoundCloud:tracks:0\",\"verdict\":\"unknown\",\"puri\":\"soundcloud:tracks:0\"}\n");
    }

    @Test
    void malformedHasTheReasonAndThePlace() {
        assertThat(get("/v1/identities/soundcloud:tracks", 400))
                .startsWith("{\"ref\":\"soundcloud:tracks\",\"verdict\":\"malformed\",\"detail\":")
                .contains("three segments");
    }

    @Test
    void aPuriWithEscapesIsFoundInEveryEncoding() {
        for (String path : List.of(
                "debian:packages:a%2Fb",
                "debian%3Apackages%3Aa%252Fb", "debian:packages:a%252Fb", "DEBIAN:packages:A%2fb")) {
            assertThat(get("/v1/identities/" + path, 200)).contains("\"puri\":\"debian:packages:a%2Fb\"");
        }
    }

    @Test
    void aBatchIsAnsweredInTheOrderOfItsReferences() throws IOException {
        JsonNode batch = JSON.readTree(post("""
                {"refs":["soundcloud:tracks:124","nonsense","TRK_4k7vx9tz2nqr8w3","soundcloud:tracks:gone",
                "soundcloud:tracks:none","soundcloud:tracks:merged","soundcloud:tracks:lost"],"groupBy":"shard"}""", 200));

        assertThat(batch.at("/results").findValuesAsText("verdict"))
                .containsExactly("found", "malformed", "found", "deleted", "unknown", "merged", "merged");
        assertThat(batch.at("/results/2/ref").asText()).isEqualTo("TRK_4k7vx9tz2nqr8w3");
        assertThat(batch.at("/shards").toString()).isEqualTo("{\"br-1\":[2],\"br-2\":[0,5]}");
    }

    @Test
    void aBatchIsNotGroupedUnlessAsked() {
        assertThat(post("{\"refs\":[]}", 200)).isEqualTo("{\"results\":[]}\n");
        assertThat(post("{\"refs\":[],\"groupBy\":null}", 200)).isEqualTo("{\"results\":[]}\n");
        assertThat(post("{\"groupBy\":\"shard\",\"refs\":[]}", 200)).isEqualTo("{\"results\":[],\"shards\":{}}\n");
    }

    @Test
    void aBatchOfTheLargestSizeIsAnswered() throws IOException {
        String refs = IntStream.range(0, MAX_REFS)
                .mapToObj(i -> "\"soundcloud:tracks:123\"")
                .collect(Collectors.joining(","));

        JsonNode batch = JSON.readTree(post("{\"refs\":[" + refs + "],\"groupBy\":\"shard\"}", 200));

        assertThat(batch.at("/results").size()).isEqualTo(MAX_REFS);
        assertThat(batch.at("/shards/br-1").size()).isEqualTo(MAX_REFS);
        assertThat(post("{\"refs\":[" + refs + ",\"a:b:c\"]}", 400)).contains("too-many-refs", "\"maxRefs\":1000");
    }

    @Test
    void namesMistakesOfABatchWithTheirPlace() {
        assertRefused("", "not-json", "empty");
        assertRefused("nonsense", "not-json", "\"line\":1");
        assertRefused("{\"refs\":[\"a:b:c\"", "not-json", "line");
        assertRefused("{\"refs\":[]} x", "not-json", "line");
        assertRefused("{\"refs\":[]}{}", "not-json", "something follows");
        assertRefused("{\"refs\":[],\"refs\":[]}", "not-json", "Duplicate");
        assertRefused("[\"a:b:c\"]", "invalid-body", "an object");
        assertRefused("{}", "invalid-body", "refs is missing");
        assertRefused("{\"refs\":\"a:b:c\"}", "invalid-body", "\"pointer\":\"/refs\"");
        assertRefused("{\"refs\":[\"a:b:c\",7]}", "invalid-body", "\"pointer\":\"/refs/1\"");
        assertRefused("{\"refs\":[null]}", "invalid-body", "\"pointer\":\"/refs/0\"");
        assertRefused("{\"refs\":[[\"a:b:c\"]]}", "invalid-body", "\"pointer\":\"/refs/0\"");
        assertRefused("{\"refs\":[],\"groupBy\":\"owner\"}", "invalid-body", "\"pointer\":\"/groupBy\"");
        assertRefused("{\"refs\":[],\"group/By\":1}", "invalid-body", "\"pointer\":\"/group~1By\"");
        assertRefused("{\"x\":" + "[".repeat(5000), "invalid-body", "\"pointer\":\"/x\"");
    }

    @Test
    void theLagIsDescribedWhateverTheAnswer() {
        assertThat(contract.answersWithout("Puri-Table-Lag")).isEmpty();
        assertThat(contract.answersWithout("Puri-Index-Lag")).isEmpty();
        assertThat(new Contract(client, "/openapi-public.json").answersWithout("Puri-Table-Lag"))
                .isEmpty();
    }

    @Test
    void bytesThatAreNotUtf8AreNotJson() {
        byte[] body = "{\"refs\":[\"a:b:X\"]}".getBytes(StandardCharsets.ISO_8859_1);
        body[14] = (byte) 0xff;

        assertThat(post(body, 400)).contains("not-json");
        // Overlong forms of a slash and of NUL, a lone surrogate, and another encoding.
        for (String bytes : List.of("\u00c0\u00af", "\u00e0\u0080\u00af", "\u00c0\u0080", "\u00ed\u00a0\u0080")) {
            byte[] hidden = ("{\"refs\":[\"a:b:" + bytes + "\"]}").getBytes(StandardCharsets.ISO_8859_1);
            assertThat(post(hidden, 400)).as(bytes).contains("not-json", "UTF-8");
        }
        assertThat(post("{\"refs\":[\"a:b:c\"]}".getBytes(StandardCharsets.UTF_16LE), 400))
                .contains("not-json");
    }

    @Test
    void hostileReferencesAreMalformedAndEchoedHarmlessly() throws IOException {
        List<String> hostile = List.of(
                "a:b:c\r\nX-Evil: 1",
                "a:b:\0",
                "\ud800",
                "a:b:\udc00",
                "a:b:" + "x".repeat(100_000),
                "a:b:" + "%".repeat(1000),
                "a:b:%FF",
                "a:b:<script>",
                "../../etc/passwd",
                ":".repeat(1000));
        String body = JSON.writeValueAsString(Map.of("refs", hostile));

        JsonNode batch = JSON.readTree(post(body, 200));

        assertThat(batch.at("/results").findValuesAsText("verdict"))
                .isEqualTo(Collections.nCopies(hostile.size(), "malformed"));
        assertThat(batch.at("/results/0/ref").asText()).isEqualTo(hostile.getFirst());
        assertThat(batch.at("/results").findValuesAsText("detail")).allMatch(detail -> detail.length() < 400);
        assertThat(post("{\"refs\":[\"\\ud800\"]}", 200)).contains("\"ref\":\"\ufffd\"", "malformed");
        assertThat(post("{\"refs\":[],\"\\ud800\":1}", 400)).contains("not-json");
    }

    @Test
    void hostilePathsAreMalformed() throws IOException {
        assertThat(get("/v1/identities/a:b:c%0D%0AX-Evil:%201", 400)).contains("malformed");
        assertThat(get("/v1/identities/a:b:%00", 400)).contains("malformed");
        assertThat(get("/v1/identities/%2e%2e%2f", 400)).contains("malformed");
        assertThat(get("/v1/identities/a:b:%FF", 400)).contains("malformed");
        assertThat(get("/v1/identities/" + "a".repeat(4000), 400)).contains("malformed");
        assertThat(raw("GET /v1/identities/a:b:\u00ff HTTP/1.1")).startsWith("HTTP/1.1 400 ");
        assertThat(raw("GET /v1/identities/" + "a".repeat(20_000) + " HTTP/1.1"))
                .contains(" 414 ");
        assertThat(raw("GET /v1/identities/soundcloud:tracks:123\u0000 HTTP/1.1"))
                .contains(" 400 ");
    }

    @Test
    void nothingIsAnsweredBeforeTheTableIsComplete() {
        table = null;

        HttpResponse<String> one = send("GET", "/v1/identities/a:b:c", null);
        assertThat(one.statusCode()).isEqualTo(503);
        assertThat(one.headers().firstValue("Retry-After")).contains("1");
        assertThat(one.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(one.body()).contains("https://puri.dev/problems/not-ready", "12 of 30 records are in");
        assertThat(post("{\"refs\":[\"a:b:c\"]}", 503)).contains("not-ready");
        assertThat(post("{\"refs\":[7]}", 400)).contains("invalid-body");
    }

    @Test
    void staleAnswersHaveALagHeader() {
        lag = "42";

        for (String path : List.of("soundcloud:tracks:123", "soundcloud:tracks:0", "nonsense")) {
            assertThat(lagOf(send("GET", "/v1/identities/" + path, null))).contains("42");
        }
        assertThat(lagOf(send("POST", "/v1/resolve", "{\"refs\":[]}".getBytes(StandardCharsets.UTF_8))))
                .contains("42");
        assertThat(lagOf(send("GET", "/v1/stats", null))).contains("42");
        assertThat(lagOf(send("GET", "/health/ready", null))).isEmpty();
    }

    @Test
    void freshAnswersHaveNoLagHeader() {
        assertThat(lagOf(send("GET", "/v1/identities/soundcloud:tracks:123", null)))
                .isEmpty();
    }

    private static Optional<String> lagOf(HttpResponse<String> response) {
        return response.headers().firstValue(Routes.LAG);
    }

    @Test
    void aQueryParameterThatIsNotKnownIsRefused() {
        assertThat(get("/v1/identities/a:b:c?token=3-1042", 400)).contains("unknown-parameter", "\"token\"");
    }

    @Test
    void verdictsAreCounted() {
        get("/v1/identities/soundcloud:tracks:123", 200);
        post("{\"refs\":[\"soundcloud:tracks:123\",\"x\"]}", 200);

        assertThat(get("/metrics", 200))
                .contains(verdicts("/v1/identities/{ref}", "found") + " 1.0")
                .contains(verdicts("/v1/resolve", "found") + " 1.0")
                .contains(verdicts("/v1/resolve", "malformed") + " 1.0");
    }

    private static String verdicts(String route, String verdict) {
        return "puri_resolver_verdicts_total{listener=\"internal\",route=\"" + route + "\",verdict=\"" + verdict
                + "\"}";
    }

    @Test
    void everyProblemHasAPageAndNoOther() throws Exception {
        Set<ProblemType> made = new HashSet<>(problems(ProblemType.class));
        made.addAll(problems(Resolver.class));
        made.addAll(problems(WaitParameters.class));
        Set<ProblemType> listed = new HashSet<>(ProblemType.ofListeners());
        listed.addAll(Problems.ALL);

        assertThat(listed).isEqualTo(made);
        for (ProblemType problem : made) {
            assertThat(get("/problems/" + problem.name(), 200)).contains("<h1>" + problem.title(), problem.uri());
        }
        assertThat(get("/problems/none", 404)).contains("no-such-path", "not-ready, ");
    }

    /** All constants of a module's classes. */
    private static Set<ProblemType> problems(Class<?> ofModule) throws Exception {
        Path classes = Path.of(
                ofModule.getProtectionDomain().getCodeSource().getLocation().toURI());
        Set<ProblemType> found = new HashSet<>();
        try (FileSystem jar = Files.isDirectory(classes) ? null : FileSystems.newFileSystem(classes)) {
            Path root = jar == null ? classes : jar.getPath("/");
            try (Stream<Path> files = Files.walk(root)) {
                for (Path file :
                        files.filter(each -> each.toString().endsWith(".class")).toList()) {
                    String name =
                            root.relativize(file).toString().replace('/', '.').replaceFirst("\\.class$", "");
                    if (name.startsWith("dev.puri.")) {
                        for (Field field : Class.forName(name).getDeclaredFields()) {
                            if (field.getType() == ProblemType.class && Modifier.isStatic(field.getModifiers())) {
                                field.setAccessible(true);
                                found.add((ProblemType) field.get(null));
                            }
                        }
                    }
                }
            }
        }
        assertThat(found).isNotEmpty();
        return found;
    }

    @Test
    void theDescriptionNamesEveryRouteAndNoOther() throws IOException {
        Set<String> described = new TreeSet<>();
        JsonNode paths = JSON.readTree(get("/openapi.json", 200)).at("/paths");
        for (Iterator<String> names = paths.fieldNames(); names.hasNext(); ) {
            String path = names.next();
            paths.get(path)
                    .fieldNames()
                    .forEachRemaining(method -> described.add(method.toUpperCase(Locale.ROOT) + " " + path));
        }

        assertThat(described)
                .isEqualTo(routes.stream()
                        .map(route -> route.method() + " " + route.path())
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void everyReferenceInTheDescriptionLeadsSomewhere() throws IOException {
        JsonNode description = JSON.readTree(get("/openapi.json", 200));

        List<String> references = description.findValuesAsText("$ref");
        assertThat(references).isNotEmpty();
        assertThat(references)
                .allSatisfy(reference -> assertThat(
                                description.at(reference.substring(1)).isMissingNode())
                        .isFalse());
    }

    private void assertRefused(String body, String problem, String detail) {
        assertThat(post(body, 400))
                .as(body)
                .contains("https://puri.dev/problems/" + problem)
                .contains(detail);
    }

    private void put(String puri, Row row) {
        filled.put(Puri.parse(puri), row);
    }

    private String get(String path, int status) {
        return answered(send("GET", path, null), status);
    }

    private String post(String body, int status) {
        return post(body.getBytes(StandardCharsets.UTF_8), status);
    }

    private String post(byte[] body, int status) {
        return answered(send("POST", "/v1/resolve", body), status);
    }

    @Test
    void theContractCheckFindsViolations() {
        HttpRequest found =
                HttpRequest.newBuilder(uri("/v1/identities/" + HANDLE)).build();
        HttpRequest batch = HttpRequest.newBuilder(uri("/v1/resolve"))
                .POST(HttpRequest.BodyPublishers.ofString("{\"refs\":[\"a:b:c\"]}"))
                .build();

        assertThatThrownBy(() -> without("/components/schemas/Result/properties", "epoch")
                        .send(found))
                .hasMessageContaining("epoch");
        assertThatThrownBy(() -> without("/paths/~1v1~1identities~1{ref}/get/responses", "200")
                        .send(found))
                .hasMessageContaining("is described");
        assertThatThrownBy(() ->
                        without("/components/schemas/Batch/properties", "refs").send(batch))
                .hasMessageContaining("though");
        assertThat(new Contract(client, "/openapi.json").sendAsync(batch)).succeedsWithin(Duration.ofSeconds(20));
    }

    private Contract without(String pointer, String member) {
        JsonNode less = Contract.read("/openapi.json");
        assertThat(((ObjectNode) less.at(pointer)).remove(member)).isNotNull();
        return new Contract(client, less);
    }

    private static String answered(HttpResponse<String> response, int status) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        return response.body();
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + listener.port() + path);
    }

    private HttpResponse<String> send(String method, String path, byte @Nullable [] body) {
        HttpRequest request = HttpRequest.newBuilder(uri(path))
                .method(
                        method,
                        body == null
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
        return contract.sendAsync(request).join();
    }

    private String raw(String line) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write((line + "\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
