package dev.puri.acceptance;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.puri.acceptance.DemoInChromium.created;
import static dev.puri.acceptance.FakeAnswers.problem;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.options.AriaRole;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Search on the page. */
@Timeout(240)
final class PageSearchIT {
    private static DemoInChromium demo;

    @BeforeAll
    static void start() throws Exception {
        demo = DemoInChromium.shared();
    }

    @Test
    void searchUpdatesOneMixedListWhileTypingAndItsCountsAreFilters() {
        try (Visit visit = demo.visit()) {
            assertThat(visit.find("#search-summary")).containsText("newest first");
            visit.page().keyboard().press("s");
            // With a typo.
            visit.page().keyboard().type("ana sousa");
            Locator hits = visit.find("#search-results .hit");
            assertThat(visit.find("#search-summary")).hasText("5 results");
            assertThat(hits).hasCount(5);
            assertThat(visit.find("[data-puri='soundcloud:users:ana.souza'] em").first())
                    .hasText("Ana");

            visit.find("#search-grouping").selectOption("shard");
            assertThat(visit.find(".hit-group")).hasCount(3);
            assertThat(visit.find(".hit-group[data-group='eu-1'] .hit"))
                    .hasAttribute("data-puri", "soundcloud:tracks:78");
            visit.find("#search-grouping").selectOption("");

            Locator users = visit.find(".facet[data-value='soundcloud:users']");
            users.focus();
            visit.page().keyboard().press("Enter");
            assertThat(hits).hasCount(1);
            assertThat(users).hasAttribute("aria-pressed", "true");
            assertThat(users).isFocused();
            hits.getByRole(AriaRole.BUTTON).click();
            assertThat(visit.find(".results .found")).hasCount(1);
            assertThat(visit.find(".results tbody")).containsText("soundcloud:users:ana.souza");
            visit.assertNothingWentWrong(false);
        }
    }

    @Test
    void withoutWordsSearchListsTheNewestOverAllShardsPageByPage() {
        try (Visit visit = demo.visit()) {
            visit.find(".facet[data-value='soundcloud:users']").click();
            Locator hits = visit.find("#search-results .hit");
            assertThat(visit.find("#search-summary")).hasText("61 identities, newest first");
            assertThat(hits.first()).hasAttribute("data-puri", "soundcloud:users:ana.souza");
            assertThat(hits).hasCount(20);
            visit.find("#search-more").click();
            assertThat(hits).hasCount(40);
            assertThat(hits.nth(20)).hasAttribute("data-puri", "soundcloud:users:41");
            visit.assertNothingWentWrong(false);
        }
    }

    @Test
    void moreResultsAreOfTheShownQueryWhileAnotherTextIsTyped() {
        try (Visit visit = demo.visit()) {
            assertThat(visit.find("#search-more")).isVisible();
            visit.page().evaluate("""
                            () => {
                              const text = document.getElementById("search-text");
                              text.value = "nothinglikeit";
                              text.dispatchEvent(new Event("input", { bubbles: true }));
                              document.getElementById("search-more").click();
                            }""");
            assertThat(visit.find("#search-summary")).hasText("0 results");
            assertThat(visit.find("#search-more")).isHidden();
            visit.assertNothingWentWrong(false);
        }
    }

    @Test
    void searchResultsAreShownAsTextEvenIfTheyLookLikeMarkup() {
        String hostile = "<img src=x onerror=\"window.hurt=1\"> <em>zebra</em> & co";
        demo.publish("soundcloud:tracks:hostile", created("br-1", Map.of("title", hostile)));
        try (Visit visit = demo.visit()) {
            Locator hit = visit.find(".hit[data-puri='soundcloud:tracks:hostile']");
            Awaitility.await().untilAsserted(() -> {
                visit.find("#search-text").fill("");
                visit.find("#search-text").fill("zebra");
                assertThat(hit).isVisible(new LocatorAssertions.IsVisibleOptions().setTimeout(2_000));
            });
            assertThat(hit.locator(".attribute bdi").last()).hasText(hostile);
            assertThat(hit.locator("em")).hasText("zebra");
            assertThat(visit.find("#search-results img")).hasCount(0);
            assertThat(visit.page().evaluate("() => window.hurt === undefined")).isEqualTo(true);
            visit.assertNothingWentWrong(false);
        }
    }

    @Test
    void thePageReportsAStaleOrUnreachableIndexAndHasNoSearchWithoutOne() {
        try (Visit visit = demo.visit()) {
            visit.page()
                    .route(
                            "**/v1/search*",
                            route -> route.fulfill(new Route.FulfillOptions()
                                    .setHeaders(Map.of("Puri-Index-Lag", "42"))
                                    .setContentType("application/json")
                                    .setBody("{\"results\":[],\"total\":3,\"totalIsExact\":false}")));
            visit.find("#search-text").fill("a");
            assertThat(visit.find("#search-summary")).hasText("at least 3 results; the index is 42 seconds behind");

            visit.page().route("**/v1/search*", problem(503, "search-unavailable", "Nothing came back from it."));
            visit.find("#search-text").fill("b");
            assertThat(visit.find("#search-problem")).hasText("Nothing came back from it.");
            assertThat(visit.find("#search-summary")).isEmpty();

            visit.page().route("**/v1/search*", problem(404, "no-search", "No search indexer is named."));
            visit.find("#search-text").fill("c");
            assertThat(visit.find("#search")).isHidden();
            visit.assertNothingWentWrong(true);
        }
    }
}
