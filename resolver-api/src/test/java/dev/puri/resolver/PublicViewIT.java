package dev.puri.resolver;

import static dev.puri.testkit.RawHttp.METHODS;
import static dev.puri.testkit.RawHttp.ask;
import static dev.puri.testkit.RawHttp.body;
import static dev.puri.testkit.RawHttp.exchange;
import static dev.puri.testkit.RawHttp.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.settings.Settings;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.Secrets;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
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
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The responses of the public listener, byte by byte: rows with known secrets are published, every request is
 * sent, and every byte of the responses is searched for the secrets.
 */
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
final class PublicViewIT {
    private static final RecordWriter<IdentityRow> ROWS = RecordWriter.of(IdentityRow.class);
    private static final RecordWriter<CollectionsEntry> DECLARATIONS = RecordWriter.of(CollectionsEntry.class);

    private static final String OWNER = "owner-nobody-may-know";
    private static final String SHARD = "shard-nobody-may-know";
    private static final long EPOCH = 918_273_645_546L;
    private static final Instant CREATED = Instant.parse("2026-04-05T06:07:08.123Z");

    private static final String OPEN = "open:tracks:may-be-named";
    private static final String OPEN_HANDLE = "opn_4k7vx9tz2nqr8w3";
    private static final String CLOSED = "closed:tracks:quiet-1";
    private static final String CLOSED_HANDLE = "cls_4k7vx9tz2nqr8w3";
    private static final String UNDECLARED = "unheard:of:quiet-2";
    private static final String UNDECLARED_HANDLE = "unh_4k7vx9tz2nqr8w3";
    private static final String DELETED = "closed:tracks:quiet-3";
    private static final String DELETED_HANDLE = "cls_555555555555555";
    private static final String MERGED = "closed:tracks:quiet-4";
    private static final String MERGED_HANDLE = "cls_666666666666666";
    private static final String LOST = "closed:tracks:quiet-5";
    private static final String LOST_HANDLE = "cls_777777777777777";

    private static final List<String> HANDLES =
            List.of(OPEN_HANDLE, CLOSED_HANDLE, UNDECLARED_HANDLE, DELETED_HANDLE, MERGED_HANDLE, LOST_HANDLE);

    /** In canonical form, which no request here uses: if a response contains one, it comes from the table. */
    private static final List<String> PRIVATE_NAMES =
            List.of(CLOSED, UNDECLARED, DELETED, MERGED, LOST, "closed:tracks");

    private static RestartableBroker broker;
    private static KafkaProducer<byte[], byte[]> producer;
    private static int rowSchema;
    private static int declarationSchema;
    private static Resolver resolver;

    private static final Secrets SECRETS = new Secrets();

    @BeforeAll
    static void publish() throws Exception {
        broker = Broker.start();
        rowSchema = SharedSchemas.register(Topics.IDENTITIES + "-value", ROWS.schema());
        declarationSchema = SharedSchemas.register(Topics.COLLECTIONS + "-value", DECLARATIONS.schema());
        Properties config = new Properties();
        config.put("bootstrap.servers", broker.bootstrapServers());
        producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        SECRETS.add("owner", OWNER);
        SECRETS.add("shard", SHARD);
        SECRETS.add("epoch", Long.toString(EPOCH));
        SECRETS.add("created", CREATED.toString());
        SECRETS.add("internal port's metrics", "puri_table");
        PRIVATE_NAMES.forEach(name -> SECRETS.add("name " + name, name));

        resolver = Resolver.start(Settings.read(
                ResolverSettings.class,
                Map.of(
                        "bootstrap.server",
                        broker.bootstrapServers(),
                        "schema.registry",
                        SharedSchemas.url(),
                        "http.port",
                        "0",
                        "public.http.port",
                        "0",
                        "drain.delay",
                        "0s"),
                Map.of(),
                null));
    }

    @AfterAll
    static void stop() {
        resolver.close();
        producer.close();
        broker.close();
    }

    /** One after the other, because each builds on the previous one. */
    @Test
    void noResponseContainsAByteOfASecret() throws Exception {
        int port = resolver.publicPort().orElseThrow();
        // No table is ready yet: 503, without a reason.
        searchEverything(port);
        assertThat(ask(port, "GET", "/v1/identities/" + OPEN_HANDLE)).startsWith("HTTP/1.1 503 ");

        fill();
        await().atMost(Duration.ofSeconds(60)).until(() -> resolver.isReady());
        await().atMost(Duration.ofSeconds(30)).until(() -> isNamed(OPEN_HANDLE));
        searchEverything(port);

        assertThat(body(ask(port, "GET", "/v1/identities/" + OPEN_HANDLE)))
                .isEqualTo("{\"ref\":\"" + OPEN_HANDLE + "\",\"verdict\":\"found\",\"puri\":\"" + OPEN
                        + "\",\"handle\":\"" + OPEN_HANDLE + "\"}\n");
        assertThat(body(ask(port, "GET", "/v1/identities/" + MERGED_HANDLE)))
                .isEqualTo("{\"ref\":\"" + MERGED_HANDLE + "\",\"verdict\":\"merged\",\"handle\":\"" + MERGED_HANDLE
                        + "\",\"canonical\":\"" + OPEN + "\",\"canonicalHandle\":\"" + OPEN_HANDLE + "\"}\n");
        assertThat(body(ask(port, "GET", "/health/ready"))).isEqualTo("{\"status\":\"UP\",\"checks\":[]}\n");
        theSearchMatchesTheInternalListener();
        whoAsksByNameLearnsNothing(port);
        aCollectionTurnedPrivateIsNotNamedAnyMore();
    }

    private static void theSearchMatchesTheInternalListener() throws IOException {
        List<String> found = new ArrayList<>();
        for (String handle : HANDLES) {
            found.addAll(SECRETS.in(ask(resolver.port(), "GET", "/v1/identities/" + handle)));
        }
        found.addAll(SECRETS.in(ask(resolver.port(), "GET", "/metrics")));
        assertThat(found)
                .contains("owner", "shard", "epoch", "created", "uuid of " + CLOSED, "name " + LOST)
                .contains("internal port's metrics");
    }

    /** A request by name does not reveal whether the name exists, not even for a public name. */
    private static void whoAsksByNameLearnsNothing(int port) throws IOException {
        for (String name : List.of(OPEN, CLOSED, UNDECLARED, DELETED, MERGED)) {
            String absent = name.substring(0, name.length() - 1) + '~';
            assertThat(undated(ask(port, "GET", "/v1/identities/" + name)).replace(name, absent))
                    .isEqualTo(undated(ask(port, "GET", "/v1/identities/" + absent)));
        }
    }

    private static void aCollectionTurnedPrivateIsNotNamedAnyMore() throws IOException {
        send(declared("open:tracks", false));
        await().atMost(Duration.ofSeconds(30)).until(() -> !isNamed(OPEN_HANDLE));
        assertThat(isNamed(MERGED_HANDLE)).isFalse();
    }

    private static boolean isNamed(String handle) throws IOException {
        return ask(resolver.publicPort().orElseThrow(), "GET", "/v1/identities/" + handle)
                .contains(OPEN);
    }

    private static void fill() throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
            admin.createTopics(List.of(
                            new NewTopic(Topics.IDENTITIES, 3, (short) 1),
                            new NewTopic(Topics.COLLECTIONS, 1, (short) 1),
                            new NewTopic(Topics.REJECTIONS, 1, (short) 1)))
                    .all()
                    .get();
        }
        send(declared("open:tracks", true));
        send(declared("closed:tracks", false));
        send(row(OPEN, OPEN_HANDLE, Row.Status.ACTIVE, null));
        send(row(CLOSED, CLOSED_HANDLE, Row.Status.ACTIVE, null));
        send(row(UNDECLARED, UNDECLARED_HANDLE, Row.Status.ACTIVE, null));
        send(row(DELETED, DELETED_HANDLE, Row.Status.DELETED, null));
        send(row(MERGED, MERGED_HANDLE, Row.Status.MERGED, OPEN));
        send(row(LOST, LOST_HANDLE, Row.Status.MERGED, "closed:tracks:erased"));
    }

    private static void send(ProducerRecord<byte[], byte[]> record) {
        try {
            assertThat(producer.send(record).get()).isNotNull();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static ProducerRecord<byte[], byte[]> declared(String collection, boolean isPublic) {
        String[] names = collection.split(":", -1);
        Collection declaration =
                new Collection(names[0], names[1], null, Set.of(new Owner(OWNER)), true, isPublic, OWNER, false);
        return new ProducerRecord<>(
                Topics.COLLECTIONS,
                collection.getBytes(StandardCharsets.US_ASCII),
                DECLARATIONS.encode(declarationSchema, DeclarationAvro.toAvro(declaration)));
    }

    private static ProducerRecord<byte[], byte[]> row(
            String puri, String handle, Row.Status status, @Nullable String mergedInto) {
        UUID uuid = new UUID(0x0197_c3a2_5b1e_7000L | puri.hashCode() & 0xFFF, 0x8e9f_0a1b_2c3d_0000L | puri.length());
        SECRETS.add(puri, uuid);
        Row row = new Row(
                uuid,
                new Owner(OWNER),
                new Shard(SHARD),
                new Handle(handle),
                status,
                EPOCH,
                CREATED,
                CREATED,
                mergedInto == null ? null : Puri.parse(mergedInto),
                new Position(Topics.EVENTS, 0, 7));
        return new ProducerRecord<>(
                Topics.IDENTITIES, Puri.parse(puri).toBytes(), ROWS.encode(rowSchema, RowAvro.toAvro(row)));
    }

    private static void searchEverything(int port) throws IOException {
        for (byte[] request : requests()) {
            String answer = exchange(port, request);
            assertThat(SECRETS.in(answer))
                    .as("%s%n%s", new String(request, StandardCharsets.ISO_8859_1), answer)
                    .isEmpty();
            assertThat(answer).matches("(?s)HTTP/1\\.[01] (?!500).*");
        }
    }

    /** Each byte is a character. */
    private static List<byte[]> requests() {
        List<byte[]> requests = new ArrayList<>();
        Function<String, String> loud = name -> name.toUpperCase(Locale.ROOT);
        List<String> refs = new ArrayList<>(HANDLES);
        HANDLES.forEach(handle -> refs.add(loud.apply(handle)));
        PRIVATE_NAMES.forEach(name -> refs.add(loud.apply(name)));
        refs.addAll(
                List.of(loud.apply(OPEN), "%63%6C%73_4k7vx9tz2nqr8w3", "CLOSED%3ATRACKS%3AQUIET-1", "", "cls_", "*"));
        List<String> paths = new ArrayList<>(List.of(
                "/",
                "*",
                "/v1/resolve",
                "/v1/changes",
                "/v1/export",
                "/v1/rejections",
                "/v1/collections",
                "/v1/stats",
                "/metrics",
                "/openapi.json",
                "/health/started",
                "/health/live",
                "/health/ready",
                "/problems/not-ready",
                "/page/app.js",
                "/v1/identities/../stats",
                "//v1/stats",
                "/V1/STATS",
                "http://internal/v1/stats"));
        refs.forEach(ref -> paths.add("/v1/identities/" + ref));
        for (String path : paths) {
            for (String method : METHODS) {
                requests.add(request(method, path, "", ""));
            }
        }
        for (String query :
                List.of("at=0-7", "at=0-7&wait=1s", "wait=1s", "groupBy=shard", "collection=CLOSED:TRACKS", "%zz")) {
            requests.add(request("GET", "/v1/identities/" + CLOSED_HANDLE + '?' + query, "", ""));
            requests.add(request("POST", "/v1/resolve?" + query, "", "{\"refs\":[\"" + CLOSED_HANDLE + "\"]}"));
            requests.add(request("GET", "/v1/rejections?" + query, "", ""));
        }
        String all = "\"" + String.join("\",\"", refs) + "\"";
        for (String body : List.of(
                "{\"refs\":[" + all + "]}",
                "{\"refs\":[" + all + "],\"groupBy\":\"shard\"}",
                "{\"refs\":[{\"ref\":\"" + CLOSED_HANDLE + "\",\"at\":\"0-7\"}]}",
                "{\"refs\":[{\"ref\":\"" + CLOSED_HANDLE + "\"}]}",
                "{\"refs\":[" + all + ",7]}",
                "{\"refs\":[" + all,
                "{\"refs\":[" + (all + ",").repeat(100) + all + "]}",
                "{\"refs\":\"" + CLOSED_HANDLE + "\"}",
                "[" + all + "]",
                "",
                "\0",
                "{\"refs\":[\"\\ud800\"]}",
                "x".repeat(1 << 20 | 1))) {
            requests.add(request("POST", "/v1/resolve", "", body));
        }
        String big = "x".repeat(20_000);
        for (String headers : List.of(
                "X: " + big + "\r\n",
                "Content-Length: x\r\n",
                "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n",
                "Authorization: Bearer x\r\n",
                "Accept: text/html\r\n",
                "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
                "no header\r\n")) {
            requests.add(request("GET", "/v1/identities/" + CLOSED_HANDLE, headers, ""));
        }
        requests.add(request("GET", "/v1/identities/" + big, "", ""));
        requests.add("GARBAGE\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
        return requests;
    }

    /** Without the length too, which depends on the request. */
    private static String undated(String answer) {
        return answer.replaceFirst("(?i)\r\ndate: [^\r]*", "").replaceFirst("(?i)\r\ncontent-length: [^\r]*", "");
    }
}
