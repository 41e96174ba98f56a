package dev.puri.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.example.feed.FeedConfiguration;
import com.example.music.MusicApplication;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.client.Events;
import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.NewIdentity;
import dev.puri.client.PublishOutcome;
import dev.puri.client.outbox.Feed;
import dev.puri.client.outbox.RelayStatus;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The application of docs/spring-boot.md, on PostgreSQL and a whole registry. */
class MusicApplicationIT {
    private static final Duration LIMIT = Duration.ofSeconds(120);
    private static final Identities TRACKS = new Identities("music", "tracks", null, Identifiers.sortable());

    @TempDir
    private static Path folder;

    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static RegistryProcess registry;
    private static EmbeddedPostgres postgres;
    private static ConfigurableApplicationContext context;

    @BeforeAll
    static void start() throws Exception {
        postgres = EmbeddedPostgres.builder()
                .setPGStartupWait(LIMIT)
                .setDataDirectory(folder.resolve("postgres"))
                .setServerConfig("wal_level", "logical")
                .start();
        registry = new RegistryProcess(folder);
        context = run();
    }

    private static ConfigurableApplicationContext run(Class<?>... configurations) {
        SpringApplication application = new SpringApplication(MusicApplication.class);
        application.addPrimarySources(List.of(configurations));
        return application.run(
                "--server.port=0",
                "--spring.profiles.active=debezium",
                "--spring.datasource.url=" + postgres.getJdbcUrl("postgres", "postgres"),
                "--spring.datasource.username=postgres",
                "--spring.datasource.password=postgres",
                "--debezium.database.port=" + postgres.getPort(),
                "--debezium.database.dbname=postgres",
                "--debezium.database.user=postgres",
                "--puri.kafka.bootstrap-servers=" + registry.broker(),
                "--puri.schema-registry.url=" + registry.schemaRegistry(),
                "--puri.resolver.addresses=" + registry.resolver(),
                "--puri.resolver.cache.size=1000",
                // While a feed runs, rows that it does not report stay in the table.
                "--puri.outbox.relay.sweep-interval=1d",
                "--management.endpoints.web.exposure.include=health,metrics",
                "--management.endpoint.health.show-details=always");
    }

    @AfterAll
    static void stop() throws Exception {
        if (context != null) {
            context.close();
        }
        if (registry != null) {
            registry.close();
        }
        if (postgres != null) {
            postgres.close();
        }
    }

    /**
     * @param headers names and values in turn
     */
    private static HttpResponse<String> send(String method, String path, String... headers) throws Exception {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .timeout(LIMIT);
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static JsonNode json(String method, String path, String... headers) throws Exception {
        HttpResponse<String> response = send(method, path, headers);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return new ObjectMapper().readTree(response.body());
    }

    private static void until(ThrowingRunnable holds) {
        await().atMost(LIMIT).pollInterval(Duration.ofMillis(50)).untilAsserted(holds);
    }

    private static Event created(NewIdentity track) {
        return creation(track).build();
    }

    private static Events.DraftWithAttributes creation(NewIdentity track) {
        return context.getBean(Events.class).created(track, new Owner("catalog"), new Shard("eu-1"));
    }

    private static void commit(Event event) {
        new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
                .executeWithoutResult(
                        status -> context.getBean(TransactionOutbox.class).add(event));
    }

    private static void untilFound(Puri puri) {
        ResolverClient resolver = context.getBean(ResolverClient.class);
        until(() -> assertThat(resolver.resolve(Ref.of(puri))).isInstanceOf(Verdict.Found.class));
    }

    private static double gauge(String name) throws Exception {
        return json("GET", "/actuator/metrics/" + name)
                .at("/measurements/0/value")
                .asDouble();
    }

    @Test
    void runsOnTheBootThatTheBuildNames() {
        assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("puri.boot"));
    }

    @Test
    void resolvesIdentitiesThatTheApplicationCommitted() throws Exception {
        JsonNode track = json("POST", "/tracks?title=Blue");
        assertThat(track.get("puri").asText()).startsWith("music:tracks:");
        until(() -> {
            JsonNode place = json("GET", "/places/" + track.get("puri").asText());
            assertThat(place.get("owner").asText()).isEqualTo("catalog");
            assertThat(place.get("shard").asText()).isEqualTo("eu-1");
        });
    }

    @Test
    void rejectsAParameterThatIsNoName() throws Exception {
        assertThat(send("GET", "/places/nothing").statusCode()).isEqualTo(400);
    }

    @Test
    void publishesNothingOfATransactionThatIsRolledBack() {
        TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        TransactionOutbox outbox = context.getBean(TransactionOutbox.class);
        NewIdentity lost = TRACKS.mint();
        NewIdentity kept = TRACKS.mint();
        assertThatThrownBy(() -> transaction.executeWithoutResult(status -> {
                    outbox.add(created(lost));
                    throw new IllegalStateException("rolled back");
                }))
                .hasMessage("rolled back");
        commit(created(kept));
        untilFound(kept.puri());
        until(() -> assertThat(context.getBean(JdbcTemplate.class)
                        .queryForObject("SELECT count(*) FROM puri_outbox", Long.class))
                .isZero());
        assertThat(context.getBean(ResolverClient.class).resolve(Ref.of(lost.puri())))
                .isInstanceOf(Verdict.Unknown.class);
    }

    @Test
    void publishesWithoutAnOutboxAndAwaitsTheOutcome() throws Exception {
        IdentityPublisher publisher = context.getBean(IdentityPublisher.class);
        NewIdentity track = TRACKS.mint();
        Position token = publisher.publish(created(track)).toCompletableFuture().get(60, TimeUnit.SECONDS);
        assertThat(publisher
                        .await(track.puri(), token, Duration.ofSeconds(30))
                        .toCompletableFuture()
                        .get(60, TimeUnit.SECONDS))
                .isInstanceOf(PublishOutcome.Accepted.class);
        assertThat(json("GET", "/actuator/metrics/kafka.producer.record.send.total")
                        .at("/measurements/0/value")
                        .asInt())
                .isPositive();
    }

    @Test
    void reportsHealthOfTheRelayAndOfResolvers() {
        until(() -> {
            JsonNode health = json("GET", "/actuator/health");
            assertThat(health.get("status").asText()).isEqualTo("UP");
            JsonNode parts = health.get("components");
            assertThat(parts.at("/puriOutbox/status").asText()).as("%s", parts).isEqualTo("UP");
            assertThat(parts.at("/puriOutbox/details/leads").asBoolean())
                    .as("%s", parts)
                    .isTrue();
            assertThat(parts.at("/puriResolver/status").asText())
                    .as("%s", parts)
                    .isEqualTo("UP");
            assertThat(parts.at("/puriResolver/details/feed").asText())
                    .as("%s", parts)
                    .isEqualTo("CURRENT");
        });
    }

    @Test
    void countsRelayRequestsAndCache() throws Exception {
        json("POST", "/tracks?title=Green");
        send("GET", "/places/music:tracks:nobody");
        for (String name : new String[] {"puri.outbox.waiting", "puri.outbox.lag", "puri.outbox.blocked"}) {
            assertThat(json("GET", "/actuator/metrics/" + name)
                            .at("/measurements/0/value")
                            .isNumber())
                    .as(name)
                    .isTrue();
        }
        until(() -> assertThat(json("GET", "/actuator/metrics/puri.outbox.leads")
                        .at("/measurements/0/value")
                        .asInt())
                .isEqualTo(1));
        assertThat(json("GET", "/actuator/metrics/puri.resolver.requests")
                        .at("/measurements/0/value")
                        .asInt())
                .isPositive();
        until(() -> assertThat(json("GET", "/actuator/metrics/puri.resolver.feed.current")
                        .at("/measurements/0/value")
                        .asInt())
                .isEqualTo(1));
    }

    /** The limit is that of the topic, so the broker refuses the event and not the producer. */
    @Test
    void reportsEventsThatTheBrokerRefusesUntilTheyArePublished() throws Exception {
        String limit = setMaxMessageBytes("3000");
        RelayStatus.BlockedPuri refused;
        try {
            // The broker confirms the limit before it applies it, so it may still accept the first of these events.
            until(() -> {
                commit(creation(TRACKS.mint())
                        .attribute("title", "x".repeat(20_000))
                        .build());
                assertThat(status().blocked()).isNotEmpty();
            });
            refused = status().blocked().get(0);
            until(() -> {
                JsonNode health = json("GET", "/actuator/health");
                assertThat(health.get("status").asText()).isEqualTo("UP");
                JsonNode outbox = health.at("/components/puriOutbox");
                assertThat(outbox.get("status").asText()).as("%s", health).isEqualTo("BLOCKED");
                JsonNode first = outbox.at("/details/blocked/0");
                assertThat(first.get("puri").asText()).isEqualTo(refused.puri());
                assertThat(first.get("eventId").asText())
                        .isEqualTo(refused.eventId().toString());
                assertThat(first.get("reason").asText()).contains("RecordTooLarge");
                long rows = status().blockedRows();
                assertThat(outbox.at("/details/blockedRows").asLong()).isEqualTo(rows);
                assertThat(gauge("puri.outbox.blocked")).isEqualTo(rows);
            });
            NewIdentity other = TRACKS.mint();
            commit(created(other));
            untilFound(other.puri());
        } finally {
            setMaxMessageBytes(limit);
        }
        for (RelayStatus.BlockedPuri each : status().blocked()) {
            // False if the relay's own next attempt came first.
            context.getBean(RelayLifecycle.class).relay().retry(each.eventId());
        }
        untilFound(Puri.parse(refused.puri()));
        until(() -> {
            assertThat(json("GET", "/actuator/health")
                            .at("/components/puriOutbox/status")
                            .asText())
                    .isEqualTo("UP");
            assertThat(gauge("puri.outbox.blocked")).isZero();
        });
    }

    /** Sets the limit of the events topic and returns the previous one. */
    private static String setMaxMessageBytes(String bytes) throws Exception {
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, Topics.EVENTS);
        ConfigEntry entry = new ConfigEntry("max.message.bytes", bytes);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", registry.broker()))) {
            String previous = admin.describeConfigs(List.of(topic))
                    .all()
                    .get(LIMIT.toSeconds(), TimeUnit.SECONDS)
                    .get(topic)
                    .get(entry.name())
                    .value();
            admin.incrementalAlterConfigs(Map.of(topic, List.of(new AlterConfigOp(entry, AlterConfigOp.OpType.SET))))
                    .all()
                    .get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            return previous;
        }
    }

    @Test
    void theRecordOfAnEventHasTheTraceOfItsRequest() throws Exception {
        String trace = "00-4bf92f3577b34da6a3ce929d0e0e4736";
        JsonNode track = json("POST", "/tracks?title=Red", "traceparent", trace + "-00f067aa0ba902b7-01");
        Puri traced = Puri.parse(track.get("puri").asText());
        untilFound(traced);
        assertThat(traceparentOf(traced)).startsWith(trace + "-").doesNotContain("00f067aa0ba902b7");

        NewIdentity untraced = TRACKS.mint();
        commit(created(untraced));
        untilFound(untraced.puri());
        assertThat(traceparentOf(untraced.puri())).isNull();
    }

    /** The header of the pURI's first record; null if it has none. */
    private static String traceparentOf(Puri puri) {
        try (KafkaConsumer<String, byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", registry.broker()),
                new StringDeserializer(),
                new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(Topics.EVENTS).stream()
                    .map(each -> new TopicPartition(each.topic(), each.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            List<Header> headers = new ArrayList<>();
            int records = 0;
            while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.get(each))) {
                for (ConsumerRecord<String, byte[]> each : consumer.poll(Duration.ofMillis(100))) {
                    if (puri.toString().equals(each.key())) {
                        records++;
                        each.headers().headers("traceparent").forEach(headers::add);
                    }
                }
            }
            assertThat(records).as("records of %s", puri).isPositive();
            return headers.isEmpty() ? null : new String(headers.get(0).value(), StandardCharsets.US_ASCII);
        }
    }

    /**
     * While the feed runs, the relay polls only once a day. A poll that began before the feed ran can publish one of
     * two events of which the second is committed after the first is published, so the feed reported at least one.
     */
    @Test
    void aDebeziumFeedReportsCommittedEvents() throws Exception {
        context.close();
        context = run(FeedConfiguration.class);
        try {
            until(() -> {
                assertThat(context.getBean(Feed.class).state()).isInstanceOf(Feed.State.Running.class);
                assertThat(readersOfTheLog()).hasSize(1);
            });
            List<Object> readers = readersOfTheLog();
            for (String title : List.of("Blue", "Green")) {
                JsonNode track = json("POST", "/tracks?title=" + title);
                untilFound(Puri.parse(track.get("puri").asText()));
            }
            assertThat(readersOfTheLog()).as("a feed that never failed").isEqualTo(readers);
            until(() -> {
                assertThat(status().waiting()).isZero();
                assertThat(status().problem()).isNull();
            });
            context.close();
            until(() -> assertThat(postgresRows("SELECT slot_name FROM pg_replication_slots"))
                    .as("slots that keep the write-ahead log")
                    .isEmpty());
        } finally {
            context.close();
            context = run();
        }
    }

    /** The process ids of the server's sessions that stream the write-ahead log. */
    private static List<Object> readersOfTheLog() throws SQLException {
        return postgresRows("SELECT pid FROM pg_stat_replication WHERE state IN ('catchup', 'streaming')");
    }

    /** The first column. On a connection of its own, because the application's pool may be closed. */
    private static List<Object> postgresRows(String sql) throws SQLException {
        List<Object> values = new ArrayList<>();
        try (Connection connection = postgres.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                values.add(rows.getObject(1));
            }
        }
        return values;
    }

    @Test
    void stopsTheRelayBeforeThePoolAndStartsAgainOnTheSameTables() throws Exception {
        until(() -> assertThat(status().leads()).isTrue());
        RelayLifecycle relay = context.getBean(RelayLifecycle.class);
        context.close();
        assertThat(relay.isRunning()).isFalse();
        assertThat(postgresRows("SELECT pid FROM pg_locks WHERE locktype = 'advisory'"))
                .as("locks of a relay that has ended")
                .isEmpty();
        context = run();
        until(() -> assertThat(status().leads()).isTrue());
    }

    private static RelayStatus status() throws Exception {
        return context.getBean(RelayLifecycle.class).relay().status();
    }
}
