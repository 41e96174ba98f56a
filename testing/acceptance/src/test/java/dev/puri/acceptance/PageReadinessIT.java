package dev.puri.acceptance;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.puri.acceptance.FakeAnswers.answering;
import static dev.puri.acceptance.FakeAnswers.notReady;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Route;
import dev.puri.resolver.Resolver;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page of a table that is not ready or is empty, and behind a proxy that answers instead. */
@Timeout(240)
final class PageReadinessIT {
    private static DemoInChromium demo;

    @BeforeAll
    static void start() throws Exception {
        demo = DemoInChromium.shared();
    }

    @Test
    void aTableThatCannotBeFilledReportsTheReasonAndTheRemedy() throws Exception {
        try (Resolver alone = demo.startResolver("127.0.0.1:1", Map.of("http.port", "0"));
                Visit visit = demo.visit("http://127.0.0.1:" + alone.port())) {
            assertThat(visit.find("#banner")).containsText("PURI_BOOTSTRAP_SERVER");
            assertThat(visit.find("#readiness-text")).hasText("Not ready");
            assertThat(visit.find("#stream-text")).hasText("Waiting for the table");
            visit.lookUp("soundcloud:tracks:123");
            assertThat(visit.find("#answers-problem")).containsText("Nothing is answered before the table is complete");
            visit.assertNothingWentWrong(true);
        }
    }

    @Test
    void thePageShowsTheFillingOfATableToItsEnd() {
        try (Visit visit = demo.unopened()) {
            String filling = "\"detail\":\"the table is being filled\",\"reason\":\"the table is being filled\"";
            visit.page().route("**/health/*", notReady("{\"rows\":900,\"reached\":1000,\"end\":4000," + filling + "}"));
            visit.page()
                    .route(
                            "**/v1/resolve",
                            route -> route.fulfill(
                                    new Route.FulfillOptions()
                                            .setStatus(503)
                                            .setContentType("application/problem+json")
                                            .setBody(
                                                    "{\"type\":\"https://puri.dev/problems/not-ready\",\"status\":503,\"detail\":\"Not yet.\"}")));
            visit.open();
            assertThat(visit.find("#banner")).containsText("1,000 of 4,000 records read, 900 rows so far");
            assertThat(visit.find("progress")).hasAttribute("max", "4000");
            visit.lookUp("SoundCloud:Tracks:123");
            assertThat(visit.find("#answers-problem")).hasText("Not yet. What this means");

            visit.page().unroute("**/v1/resolve");
            visit.page().unroute("**/health/*");
            assertThat(visit.find("#readiness-text")).hasText("Ready");
            assertThat(visit.find("#banner")).isHidden();
            // The page repeats failed requests automatically.
            assertThat(visit.find(".results .found")).hasCount(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"<html><title>502 Bad Gateway</title></html>", "{\"message\":\"Bad Gateway\"}"})
    void aProxysResponseIsNotTakenForTheResolvers(String body) {
        String expected = "A server in front of the resolver answered with status 502.";
        Consumer<Route> proxy = route -> route.fulfill(new Route.FulfillOptions()
                .setStatus(502)
                .setContentType(body.startsWith("<") ? "text/html" : "application/json")
                .setBody(body));
        try (Visit visit = demo.visit()) {
            assertThat(visit.find("#readiness-text")).hasText("Ready");
            visit.page().route("**/v1/resolve", proxy);
            visit.page().route("**/v1/rejections*", proxy);
            visit.lookUp("soundcloud:tracks:123");
            assertThat(visit.find("#answers-problem")).hasText(expected);
            assertThat(visit.find("#rejections-problem")).hasText(expected);

            // A 503 of health itself is an answer; a proxy's is not.
            visit.page().route("**/health/*", notReady("{\"detail\":\"no broker answers\"}"));
            assertThat(visit.find("#readiness-text")).hasText("Not ready");
            visit.page().route("**/health/*", proxy);
            assertThat(visit.find("#readiness-text")).hasText("Unreachable");

            visit.page().unrouteAll();
            assertThat(visit.find("#readiness-text")).hasText("Ready");
            assertThat(visit.find(".results .found")).hasCount(1);
            assertThat(visit.find("#rejections-problem")).isEmpty();
            visit.assertNothingWentWrong(true);
        }
    }

    @Test
    void thePageOfAnEmptyTableExplainsTheFirstSteps() {
        try (Visit visit = demo.unopened()) {
            visit.page().route("**/health/*", answering("""
                    {"status":"UP","checks":[{"name":"table","status":"UP","data":{"topic":"puri.identities.v1","rows":0,"reached":0,
                    "end":0,"behind":0}}]}"""));
            visit.open();
            assertThat(visit.find("#banner")).containsText("Nothing is registered yet");
            assertThat(visit.find("#banner pre")).containsText("./puri publish -f examples/music/events.jsonl --wait");
        }
    }
}
