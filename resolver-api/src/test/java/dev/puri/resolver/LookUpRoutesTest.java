package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.collection.WriteMode;
import dev.puri.schemas.identity.Prefix;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Look-ups of one reference and of a batch, with every verdict. */
final class LookUpRoutesTest extends ServedRoutes {
    private static final ObjectMapper JSON = new ObjectMapper();

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
}
