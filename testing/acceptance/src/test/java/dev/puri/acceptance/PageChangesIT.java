package dev.puri.acceptance;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.puri.acceptance.DemoInChromium.created;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.options.AriaRole;
import dev.puri.resolver.Resolver;
import dev.puri.schemas.log.Position;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page's feeds of changes and refusals. */
@Timeout(240)
final class PageChangesIT {
    private static DemoInChromium demo;

    @BeforeAll
    static void start() throws Exception {
        demo = DemoInChromium.shared();
    }

    @Test
    void thePageShowsChangesLiveAndRefusalsWithTheirReason() {
        try (Visit visit = demo.visit()) {
            assertThat(visit.find("#stream-text")).hasText("Live");

            demo.publish("page:live:1", created("br-1"));
            Position lost = demo.publish("page:live:1", created("eu-1"));

            Locator change = visit.find("#changes [data-puri='page:live:1']");
            assertThat(change).containsText("created");
            assertThat(change).containsText("catalog on br-1 · epoch 1");
            Locator refusal = visit.find("#rejections [data-position='" + lost + "']");
            assertThat(refusal).containsText("PURI_TAKEN");
            assertThat(refusal).containsText("page:live:1 is held by owner catalog on shard br-1");

            visit.find("#rejections-filter").fill(lost.toString());
            visit.find("#rejections-filter").press("Enter");
            assertThat(visit.find("#rejections li")).hasCount(1);

            refusal.getByRole(AriaRole.BUTTON).click();
            assertThat(visit.find(".results tbody tr")).hasCount(1);
            assertThat(visit.find(".results tbody")).containsText("page:live:1");
            visit.assertNothingWentWrong(false);
        }
    }

    @Test
    void changesArePausedAndFiltered() {
        try (Visit visit = demo.visit()) {
            assertThat(visit.find("#stream-text")).hasText("Live");
            visit.find("#changes-filter").fill("page:wanted, pa,ge:too");
            visit.find("#changes-filter").press("Enter");
            assertThat(visit.find("#changes-problem")).isEmpty();
            assertThat(visit.find("#stream-text")).hasText("Live");
            visit.find("#pause").click();

            demo.publish("page:unwanted:1", created("br-1"));
            demo.publish("page:wanted:1", created("br-1"));
            demo.publish("pa,ge:too:1", created("br-1"));

            assertThat(visit.find("#stream-text")).hasText("Paused, 2 new events");
            assertThat(visit.find("#changes li")).hasCount(0);
            visit.find("#pause").click();
            assertThat(visit.find("#changes [data-puri='page:wanted:1']")).isVisible();
            assertThat(visit.find("#changes [data-puri='pa,ge:too:1']")).isVisible();
            assertThat(visit.find("#changes li")).hasCount(2);

            visit.find("#changes-filter").fill("nonsense");
            visit.find("#changes-filter").press("Enter");
            assertThat(visit.find("#changes-problem")).containsText("not a collection");
            visit.assertNothingWentWrong(true);
        }
    }

    @Test
    void thePageMissesNoChangeAfterTheResolverRestarts(@TempDir Path folder) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Map<String, String> place = Map.of(
                "http.port",
                Integer.toString(port),
                "drain.delay",
                "0s",
                "state.dir",
                folder.resolve("state").toString());
        Resolver first = demo.startResolver(demo.broker(), place);
        try (Visit visit = demo.visit("http://127.0.0.1:" + port)) {
            assertThat(visit.find("#stream-text")).hasText("Live");
            demo.publish("page:back:1", created("br-1"));
            assertThat(visit.find("#changes [data-puri='page:back:1']")).isVisible();

            first.close();
            assertThat(visit.find("#changes [data-event='bye']")).isVisible();
            assertThat(visit.find("#banner")).containsText("does not answer");
            assertThat(visit.find("#readiness-text")).hasText("Unreachable");
            demo.publish("page:back:2", created("br-1"));

            Resolver second = demo.startResolver(demo.broker(), place);
            try {
                assertThat(visit.find("#changes [data-puri='page:back:2']"))
                        .isVisible(new LocatorAssertions.IsVisibleOptions().setTimeout(40_000));
                assertThat(visit.find("#changes [data-puri='page:back:1']")).hasCount(1);
                assertThat(visit.find("#readiness-text")).hasText("Ready");
                assertThat(visit.find("#banner")).isHidden();
            } finally {
                second.close();
            }
        } finally {
            first.close();
        }
    }

    @Test
    void aHiddenTabClosesItsStreamAndMissesNoChange() throws Exception {
        String look = "(hidden) => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
                + " document.dispatchEvent(new Event('visibilitychange')); }";
        try (Visit visit = demo.unopened()) {
            visit.page().clock().install();
            visit.open();
            assertThat(visit.find("#stream-text")).hasText("Live");
            demo.publish("page:seen:1", created("br-1"));
            assertThat(visit.find("#changes [data-puri='page:seen:1']")).isVisible();

            visit.page().evaluate(look, true);
            visit.page().clock().fastForward(61_000);
            assertThat(visit.find("#stream-text")).hasText("Suspended");
            Position unseen = demo.publish("page:unseen:1", created("br-1"));
            assertThat(demo.get("/v1/identities/page:unseen:1?wait=20s&at=" + unseen))
                    .contains("found");
            visit.page().evaluate(look, false);

            assertThat(visit.find("#changes [data-puri='page:unseen:1']")).isVisible();
            assertThat(visit.find("#changes [data-puri='page:seen:1']")).hasCount(1);
            visit.assertNothingWentWrong(false);
        }
    }
}
