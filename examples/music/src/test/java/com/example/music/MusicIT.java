package com.example.music;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.example.music.local.LocalDatabases;
import com.example.music.names.Music;
import dev.puri.client.Events;
import dev.puri.client.Identifiers;
import dev.puri.client.NewIdentity;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.log.Event;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The example on three PostgreSQL databases and a whole registry. */
@Timeout(600)
class MusicIT {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final JsonMapper JSON = JsonMapper.shared();

    @TempDir
    private static Path folder;

    private static LocalDatabases databases;
    private static RegistryProcess registry;
    private static ConfigurableApplicationContext context;

    @BeforeAll
    static void start() throws Exception {
        databases = LocalDatabases.start(folder);
        registry = new RegistryProcess(folder);
        List<String> settings = new ArrayList<>(List.of("--server.port=0"));
        settings.addAll(databases.settings());
        settings.addAll(registry.settings());
        context = SpringApplication.run(MusicApplication.class, settings.toArray(String[]::new));
    }

    @AfterAll
    static void stop() throws Exception {
        if (context != null) {
            context.close();
        }
        if (registry != null) {
            registry.close();
        }
        if (databases != null) {
            databases.close();
        }
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return HTTP.send(request.timeout(LIMIT).build(), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpRequest.Builder request(String path) {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path));
    }

    private static JsonNode get(String path) throws Exception {
        HttpResponse<String> response = send(request(path));
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return JSON.readTree(response.body());
    }

    private static JsonNode post(int status, String path, String body) throws Exception {
        HttpResponse<String> response = send(request(path)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body)));
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        return JSON.readTree(response.body());
    }

    private static JsonNode addArtist(String user, String key, String name) throws Exception {
        return post(201, "/artists", "{\"user\":\"%s\",\"key\":\"%s\",\"name\":\"%s\"}".formatted(user, key, name));
    }

    /** The answer of {@code /items} for some names, once all have titles. */
    private static JsonNode items(List<String> refs) throws Exception {
        String query = refs.stream()
                .map(ref -> "ref=" + URLEncoder.encode(ref, StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
        until(() -> assertThat(get("/items?" + query))
                .allSatisfy(item -> assertThat(item.has("title")).as("%s", item).isTrue()));
        return get("/items?" + query);
    }

    private static List<String> texts(JsonNode list, String field) {
        List<String> texts = new ArrayList<>();
        list.forEach(each -> texts.add(each.path(field).asString("")));
        return texts;
    }

    private static void until(ThrowingRunnable holds) {
        await().atMost(LIMIT).pollInterval(Duration.ofMillis(50)).untilAsserted(holds);
    }

    @Test
    void aCommittedTrackIsResolvable() throws Exception {
        addArtist("ana", "resolvable", "Somebody");
        JsonNode track = post(201, "/tracks", "{\"title\":\"Blue\",\"artist\":\"music:artists:resolvable\"}");
        JsonNode item = items(List.of(track.path("puri").asString())).get(0);
        assertThat(item.path("title").asString()).isEqualTo("Blue");
        assertThat(item.path("shard")).isEqualTo(track.path("shard"));
        assertThat(item.path("handle")).isEqualTo(track.path("handle"));
    }

    @Test
    void aTransactionThatIsRolledBackPublishesNothing() {
        ShardDatabase database = context.getBean(Shards.class).forNew("ana");
        Events events = context.getBean(Events.class);
        NewIdentity lost = Music.PLAYLISTS.identities(Identifiers.sortable()).mint();
        NewIdentity kept = Music.PLAYLISTS.identities(Identifiers.sortable()).mint();
        Event report = created(events, lost, database);
        assertThatThrownBy(() -> database.transaction().executeWithoutResult(status -> {
                    database.outbox().add(report);
                    throw new IllegalStateException("rolled back");
                }))
                .hasMessage("rolled back");
        database.write(
                jdbc -> jdbc.sql("INSERT INTO playlists VALUES (?, 'kept')")
                        .param(kept.uuid())
                        .update(),
                created(events, kept, database));

        ResolverClient resolver = context.getBean(ResolverClient.class);
        until(() -> assertThat(resolver.resolve(Ref.of(kept.puri()))).isInstanceOf(Verdict.Found.class));
        until(() -> assertThat(database.jdbc()
                        .sql("SELECT count(*) FROM puri_outbox")
                        .query(Long.class)
                        .single())
                .isZero());
        assertThat(resolver.resolve(Ref.of(lost.puri()))).isInstanceOf(Verdict.Unknown.class);
    }

    private static Event created(Events events, NewIdentity identity, ShardDatabase database) {
        return events.created(identity, new Owner("music"), database.shard()).build();
    }

    @Test
    void aMixedListOverThreeShardsKeepsTheRequestedOrder() throws Exception {
        JsonNode eu = addArtist("ana", "mixed-eu", "In Europe");
        JsonNode us = addArtist("bea", "mixed-us", "In America");
        JsonNode br = addArtist("tom", "mixed-br", "In Brazil");
        assertThat(texts(JSON.createArrayNode().add(eu).add(us).add(br), "shard"))
                .containsExactly("eu-1", "us-1", "br-1");
        JsonNode track = post(201, "/tracks", "{\"title\":\"Anywhere\",\"artist\":\"music:artists:mixed-eu\"}");
        List<String> refs = List.of(
                us.path("handle").asString(),
                track.path("puri").asString(),
                "Music:Artists:MIXED-BR",
                eu.path("puri").asString(),
                us.path("puri").asString());
        JsonNode items = items(refs);
        assertThat(texts(items, "title"))
                .containsExactly("In America", "Anywhere", "In Brazil", "In Europe", "In America");

        JsonNode playlist = post(
                201,
                "/playlists",
                "{\"user\":\"bea\",\"title\":\"Mixed\",\"items\":[\"music:artists:mixed-br\",\"music:tracks:nobody\",\"%s\"]}"
                        .formatted(track.path("puri").asString()));
        String name = playlist.path("handle").asString();
        items(List.of(name));
        JsonNode page = get("/playlists/" + name);
        assertThat(page.path("title").asString()).isEqualTo("Mixed");
        assertThat(texts(page.path("items"), "title")).containsExactly("In Brazil", "", "Anywhere");
        assertThat(texts(page.path("items"), "missing")).containsExactly("", "unknown", "");
    }

    @Test
    void searchFindsOverAllShards() throws Exception {
        addArtist("ana", "searched-eu", "Quetzal One");
        addArtist("bea", "searched-us", "Quetzal Two");
        addArtist("tom", "searched-br", "Quetzal Three");
        until(() -> assertThat(get("/search?q=quetzal").path("total").asInt()).isEqualTo(3));
        JsonNode page = get("/search?q=quetzal");
        assertThat(texts(page.path("results"), "shard")).containsExactlyInAnyOrder("br-1", "eu-1", "us-1");
        assertThat(page.path("facets").path("shard").size()).isEqualTo(3);
    }

    @Test
    void aSecondClaimOfANameIsRefusedWithTheHolder() throws Exception {
        addArtist("ana", "claimed", "The first");
        JsonNode problem = post(409, "/artists", "{\"user\":\"tom\",\"key\":\"Claimed\",\"name\":\"The second\"}");
        assertThat(problem.path("holder").path("owner").asString()).isEqualTo("music");
        assertThat(problem.path("holder").path("shard").asString()).isEqualTo("eu-1");
        assertThat(texts(items(List.of("music:artists:claimed")), "title")).containsExactly("The first");
        assertThat(context.getBean(Shards.class)
                        .forNew("tom")
                        .jdbc()
                        .sql("SELECT count(*) FROM artists WHERE name = 'The second'")
                        .query(Long.class)
                        .single())
                .isZero();
    }

    @Test
    void anInvalidNameIsABadRequest() throws Exception {
        post(400, "/artists", "{\"user\":\"ana\",\"key\":\"\",\"name\":\"Nobody\"}");
        post(400, "/tracks", "{\"title\":\"Blue\",\"artist\":\"music:playlists:1\"}");
        post(400, "/tracks", "{\"title\":\"Blue\",\"artist\":\"nothing\"}");
    }

    @Test
    void thePublicSeesOnlyHandleAndTitle() throws Exception {
        String handle = addArtist("tom", "public", "Everybody").path("handle").asString();
        items(List.of(handle));
        assertThat(get("/public/" + handle))
                .isEqualTo(JSON.readTree("{\"handle\":\"%s\",\"title\":\"Everybody\"}".formatted(handle)));
        assertThat(send(request("/public/music:artists:public")).statusCode()).isEqualTo(400);
    }

    @Test
    void aServiceInNodePublishesAndResolves() throws Exception {
        addArtist("ana", "reviewed", "Reviewed");
        List<String> results = new NodeProgram(folder.resolve("node"))
                .run(registry.environment(), "Music:Artists:Reviewed", "Worth a vihuela");
        assertThat(results).hasSize(2);
        JsonNode review = JSON.readTree(results.get(0));
        assertThat(review.path("verdict").asString()).isEqualTo("found");
        assertThat(review.path("owner").asString()).isEqualTo("reviews");
        assertThat(review.path("shard").asString()).isEqualTo("reviews-1");
        JsonNode artist = JSON.readTree(results.get(1));
        assertThat(artist.path("puri").asString()).isEqualTo("music:artists:reviewed");
        assertThat(artist.path("shard").asString()).isEqualTo("eu-1");
        until(() -> assertThat(texts(get("/search?q=vihuela").path("results"), "puri"))
                .containsExactly(review.path("puri").asString()));
    }

    @Test
    void aServiceInPythonPublishesAndResolves() throws Exception {
        addArtist("ana", "ana-souza", "Ana Souza");
        PythonPrograms programs = new PythonPrograms(folder.resolve("python"));
        String commands = Tutorial.block("sh", "concerts.py");
        List<String> results = programs.run(registry.environment(), commands);
        assertThat(results).hasSize(3);
        JsonNode first = JSON.readTree(results.get(0));
        assertThat(first.path("puri").asString()).startsWith("music:concerts:ana%20souza,");
        for (String result : results.subList(0, 2)) {
            JsonNode concert = JSON.readTree(result);
            assertThat(concert.path("verdict").asString()).as(result).isEqualTo("found");
            assertThat(concert.path("owner").asString()).isEqualTo("concerts");
            assertThat(concert.path("shard").asString()).isEqualTo("concerts-1");
            Ref handle = Ref.of(concert.path("handle").asString());
            assertThat(context.getBean(ResolverClient.class).resolve(handle))
                    .isInstanceOfSatisfying(
                            Verdict.Found.class,
                            found -> assertThat(found.puri())
                                    .hasToString(concert.path("puri").asString()));
        }
        JsonNode artist = JSON.readTree(results.get(2));
        assertThat(artist.path("puri").asString()).isEqualTo("music:artists:ana-souza");
        assertThat(artist.path("shard").asString()).isEqualTo("eu-1");

        JsonNode again =
                JSON.readTree(programs.run(registry.environment(), commands).get(0));
        assertThat(again.path("verdict").asString()).isEqualTo("refused");
        assertThat(again.path("reason").asString()).isEqualTo("PURI_TAKEN");
        assertThat(again.path("holder").path("owner").asString()).isEqualTo("concerts");
    }

    @Test
    void healthNamesTheRelayOfEachShard() throws Exception {
        until(() -> assertThat(get("/actuator/health")
                        .path("components")
                        .path("puriOutbox")
                        .path("status")
                        .asString())
                .isEqualTo("UP"));
        JsonNode outbox = get("/actuator/health").path("components").path("puriOutbox");
        assertThat(outbox.toString()).contains("relay-br-1", "relay-eu-1", "relay-us-1");
    }
}
