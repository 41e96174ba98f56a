package dev.puri.acceptance;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.puri.acceptance.FakeAnswers.answering;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.microsoft.playwright.PlaywrightException;
import com.microsoft.playwright.Route;
import dev.puri.resolver.Resolver;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page with hostile text, under its content security policy, and with tokens. */
@Timeout(240)
final class PageSecurityIT {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static DemoInChromium demo;

    @BeforeAll
    static void start() throws Exception {
        demo = DemoInChromium.shared();
    }

    @Test
    void namesThatLookLikeMarkupAreText() throws Exception {
        String hostile = "<img src=x onerror=\"window.hurt=1\"><script>window.hurt=1</script>";
        String json = JSON.writeValueAsString(hostile);
        try (Visit visit = demo.unopened()) {
            // Worse than any resolver's response: markup in every text field.
            visit.page().route("**/v1/rejections*", answering("""
                    {"rejections":[{"rejectedAt":%1$s,"position":%1$s,"puri":%1$s,"eventId":%1$s,"reason":%1$s,"detail":%1$s,
                    "holder":{"owner":"<b>x</b>","shard":%1$s},"survivor":%1$s}],"complete":true}""".formatted(json)));
            visit.page().route("**/v1/collections", answering("""
                    {"collections":[{"collection":%1$s,"prefix":%1$s,"owners":[%1$s],"public":true,"description":%1$s}],"total":1}""".formatted(json)));
            visit.page().route("**/v1/stats", answering("""
                    {"rows":2,"handles":1,"byStatus":{"active":2},"collections":1,"byCollection":[{"name":%1$s,"rows":2}],
                    "owners":1,"byOwner":[{"name":%1$s,"rows":2}],"shards":1,"byShard":[{"name":%1$s,"rows":2}],
                    "memory":{"bytes":1,"bytesInUse":1,"load":0.5},"lag":{}}""".formatted(json)));
            visit.page().route("**/v1/resolve", answering("""
                    {"results":[{"ref":%1$s,"verdict":"refused","puri":%1$s,"canonical":%1$s,"handle":%1$s,"detail":%1$s,"reason":%1$s},
                    {"ref":%1$s,"verdict":"found","owner":%1$s,"shard":%1$s,"uuid":%1$s,"epoch":1,"changedAt":%1$s}],
                    "shards":{%1$s:[1]}}""".formatted(json)));
            String change = JSON.writeValueAsString(Map.of(
                    "puri",
                    hostile,
                    "owner",
                    hostile,
                    "shard",
                    hostile,
                    "status",
                    "active",
                    "changedAt",
                    hostile,
                    "mergedInto",
                    hostile,
                    "epoch",
                    1));
            visit.page()
                    .route(
                            "**/v1/changes*",
                            route -> route.fulfill(new Route.FulfillOptions()
                                    .setContentType("text/event-stream")
                                    .setBody("id: 1\nevent: changed\ndata: " + change
                                            + "\n\nevent: bye\ndata: {\"reason\":" + json + "}\n\n")));
            visit.open();
            visit.lookUp(hostile);
            for (String part : List.of(
                    "#answers .results",
                    ".plan",
                    "#chart-collections",
                    "#chart-shards",
                    "#chart-owners",
                    "#changes",
                    "#rejections")) {
                assertThat(visit.find(part)).containsText(hostile);
            }
            assertThat(visit.page().evaluate("() => window.hurt")).isNull();
            assertThat(visit.find("main img, main script, main b:text('x')")).hasCount(0);
            visit.assertNothingWentWrong(true);
        }
    }

    /** The browser prevents the page from violating its policy. */
    @Test
    void thePolicyStopsMarkupMadeOfText() {
        try (Visit visit = demo.visit()) {
            assertThatThrownBy(() -> visit.page().evaluate("() => { document.body.innerHTML = '<p>x</p>'; }"))
                    .isInstanceOf(PlaywrightException.class)
                    .hasMessageContaining("TrustedHTML");
            assertThat(visit.page()
                            .evaluate(
                                    "() => fetch('http://127.0.0.2:1/').then(() => 'sent', (e) => e.constructor.name)"))
                    .isEqualTo("TypeError");
            assertThat(visit.page().evaluate("() => window.stopped.join()"))
                    .asString()
                    .contains("require-trusted-types-for", "connect-src");
        }
    }

    @Test
    void thePageAsksForATokenAndEachPartReportsAMissingScope(@TempDir Path folder) throws Exception {
        String all = "every-scope-7f3a9c1e5b2d8f60";
        String few = "look-ups-only-1b8e4d7a2c9f5036";
        Path tokens = Files.writeString(
                folder.resolve("tokens"),
                "all resolve,changes,admin " + sha256(all) + "\nfew resolve " + sha256(few) + "\n");
        try (Resolver guarded =
                        demo.startResolver(demo.broker(), Map.of("http.port", "0", "auth.tokens", tokens.toString()));
                Visit visit = demo.visit("http://127.0.0.1:" + guarded.port())) {
            assertThat(visit.find("#token")).isVisible();
            assertThat(visit.find("#token-text")).isFocused();
            visit.page().keyboard().type("no-such-token");
            visit.page().keyboard().press("Enter");
            assertThat(visit.find("#token-problem")).containsText("rejects the current token");

            visit.page().keyboard().type(few);
            visit.page().keyboard().press("Enter");
            assertThat(visit.find("#token")).isHidden();
            assertThat(visit.find("#rejections-problem")).containsText("does not allow admin");
            assertThat(visit.find("#changes-problem")).containsText("does not allow changes");
            assertThat(visit.find("#readiness-text")).hasText("Ready");
            visit.lookUp("soundcloud:tracks:123");
            assertThat(visit.find(".results .found")).hasCount(1);

            visit.find("#open-token").click();
            visit.find("#token-text").fill(all);
            visit.page().keyboard().press("Enter");
            assertThat(visit.find("#stream-text")).hasText("Live");
            assertThat(visit.find("#rejections li")).not().hasCount(0);
            assertThat(visit.find("#chart-shards li")).not().hasCount(0);
            assertThat(visit.page().evaluate("() => JSON.stringify(localStorage) + document.cookie + location.href"))
                    .asString()
                    .doesNotContain(all);

            visit.open();
            assertThat(visit.find("#stream-text")).hasText("Live");
            visit.find("#open-token").click();
            visit.find("#token-remove").click();
            assertThat(visit.find("#rejections-problem")).hasText("A token is required.");
            assertThat(visit.page().evaluate("() => sessionStorage.length")).isEqualTo(0);
            visit.assertNothingWentWrong(true);
        }
    }

    private static String sha256(String text) throws Exception {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    }
}
