package dev.puri.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.example.music.MusicApplication;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.client.Events;
import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.NewIdentity;
import dev.puri.client.PublishOutcome;
import dev.puri.client.outbox.RelayStatus;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
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
    private static final Duration LIMIT = Duration.ofSeconds(60);
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
                .start();
        registry = new RegistryProcess(folder);
        context = run();
    }

    private static ConfigurableApplicationContext run() {
        return SpringApplication.run(
                MusicApplication.class,
                "--server.port=0",
                "--spring.datasource.url=" + postgres.getJdbcUrl("postgres", "postgres"),
                "--spring.datasource.username=postgres",
                "--spring.datasource.password=postgres",
                "--puri.kafka.bootstrap-servers=" + registry.broker(),
                "--puri.schema-registry.url=" + registry.schemaRegistry(),
                "--puri.resolver.addresses=" + registry.resolver(),
                "--puri.resolver.cache.size=1000",
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

    private static HttpResponse<String> send(String method, String path) throws Exception {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        return HTTP.send(
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                        .method(method, HttpRequest.BodyPublishers.noBody())
                        .timeout(LIMIT)
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static JsonNode json(String method, String path) throws Exception {
        HttpResponse<String> response = send(method, path);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return new ObjectMapper().readTree(response.body());
    }

    private static void until(ThrowingRunnable holds) {
        await().atMost(LIMIT).pollInterval(Duration.ofMillis(50)).untilAsserted(holds);
    }

    private static Event created(NewIdentity track) {
        return context.getBean(Events.class)
                .created(track, new Owner("catalog"), new Shard("eu-1"))
                .build();
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
        transaction.executeWithoutResult(status -> outbox.add(created(kept)));

        ResolverClient resolver = context.getBean(ResolverClient.class);
        until(() -> assertThat(resolver.resolve(Ref.of(kept.puri()))).isInstanceOf(Verdict.Found.class));
        until(() -> assertThat(context.getBean(JdbcTemplate.class)
                        .queryForObject("SELECT count(*) FROM puri_outbox", Long.class))
                .isZero());
        assertThat(resolver.resolve(Ref.of(lost.puri()))).isInstanceOf(Verdict.Unknown.class);
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

    @Test
    void stopsTheRelayBeforeThePoolAndStartsAgainOnTheSameTables() throws Exception {
        until(() -> assertThat(status().leads()).isTrue());
        RelayLifecycle relay = context.getBean(RelayLifecycle.class);
        context.close();
        assertThat(relay.isRunning()).isFalse();
        try (Connection connection = postgres.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.getInt(1)).as("locks of a relay that has ended").isZero();
        }
        context = run();
        until(() -> assertThat(status().leads()).isTrue());
    }

    private static RelayStatus status() throws Exception {
        return context.getBean(RelayLifecycle.class).relay().status();
    }
}
