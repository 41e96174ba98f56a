package dev.puri.acceptance;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static com.microsoft.playwright.assertions.PlaywrightAssertions.setDefaultAssertionTimeout;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.uuid.Generators;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.PlaywrightException;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import dev.puri.client.IdentityPublisher;
import dev.puri.resolver.Resolver;
import dev.puri.resolver.ResolverSettings;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.settings.Settings;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The page, in a real Chromium, of the whole registry with the demo's sample. */
@Timeout(240)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class PageIT {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** One of each: found in another casing, moved, merged, deleted, unknown, and an invalid name. */
    private static final List<String> MIX = List.of(
            "SoundCloud:Tracks:123",
            "soundcloud:users:ana.souza",
            "soundcloud:tracks:78",
            "soundcloud:users:dj-ana",
            "soundcloud:comments:7",
            "soundcloud:playlists:9",
            "soundcloud:tracks:nobody",
            "<img/src=x/onerror=alert(1)>");

    @TempDir
    private static Path folder;

    private static Chromium chromium;
    private static RunningDemo demo;
    private static IdentityPublisher publisher;
    private static HttpClient http;

    @BeforeAll
    static void start() throws Exception {
        Path executable = Chromium.require();
        demo = new RunningDemo(folder);
        chromium = Chromium.start(executable);
        publisher = new IdentityPublisher(
                Map.of("bootstrap.servers", demo.broker(), "schema.registry.url", demo.schemaRegistry()));
        http = HttpClient.newHttpClient();
        setDefaultAssertionTimeout(20_000);
    }

    @AfterAll
    static void stop() {
        for (AutoCloseable part : new AutoCloseable[] {http, publisher, chromium, demo}) {
            try {
                if (part != null) {
                    part.close();
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Test
    void aMixOfNamesIsAnsweredWithVerdictsAndAPlan() throws Exception {
        JsonNode answer = JSON.readTree(post(Map.of("refs", MIX, "groupBy", "shard")));
        try (Visit visit = Visit.to(chromium.browser(), demo.resolver())) {
            visit.lookUp(String.join("\n", MIX));

            Locator rows = visit.find(".results tbody tr");
            assertThat(rows).hasCount(MIX.size());
            for (int i = 0; i < MIX.size(); i++) {
                JsonNode result = answer.at("/results/" + i);
                Locator row = rows.nth(i);
                assertThat(row.locator(".of-ref")).containsText(MIX.get(i));
                assertThat(row.locator(".of-verdict"))
                        .hasText(result.get("verdict").asText());
                for (String place : List.of("owner", "shard", "uuid")) {
                    if (result.has(place)) {
                        assertThat(row).containsText(result.get(place).asText());
                    }
                }
            }
            assertThat(rows.nth(3)).containsText("goes on as soundcloud:users:ana.souza");
            assertThat(visit.find("#answers-summary"))
                    .hasText("4 found, 1 merged, 1 deleted, 1 unknown, 1 malformed; 3 shards to ask");

            answer.get("shards").properties().forEach(shard -> {
                Locator card = visit.find(".place[data-shard='" + shard.getKey() + "']");
                List<String> uuids = new ArrayList<>();
                shard.getValue()
                        .forEach(index -> uuids.add(
                                answer.at("/results/" + index.asInt() + "/uuid").asText()));
                assertThat(card.locator(".uuid").allInnerTexts())
                        .containsExactlyElementsOf(uuids.stream().distinct().toList());
            });
            // The merged name and its survivor are one row.
            assertThat(visit.find(".place[data-shard='br-1'] li")
                            .filter(new Locator.FilterOptions().setHasText("#2 #4")))
                    .hasCount(1);
            visit.assertNothingWentWrong(false);
        }
    }

    @Test
    void aLinkContainsTheQuery() {
        try (Visit first = Visit.to(chromium.browser(), demo.resolver());
                Visit colleague = Visit.to(chromium.browser(), demo.resolver())) {
            first.lookUp("[\"SoundCloud:Tracks:123\", \"soundcloud:tracks:78\"]");
            colleague.page().navigate(first.page().url());

            assertThat(colleague.find(".results tbody tr")).hasCount(2);
            assertThat(colleague.find(".results .found")).hasCount(2);
        }
    }

    @Test
    void thePageShowsChangesLiveAndRefusalsWithTheirReason() {
        try (Visit visit = Visit.to(chromium.browser(), demo.resolver())) {
            assertThat(visit.find("#stream-text")).hasText("Live");

            publish("page:live:1", created("br-1"));
            Position lost = publish("page:live:1", created("eu-1"));

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
        try (Visit visit = Visit.to(chromium.browser(), demo.resolver())) {
            assertThat(visit.find("#stream-text")).hasText("Live");
            visit.find("#changes-filter").fill("page:wanted, pa,ge:too");
            visit.find("#changes-filter").press("Enter");
            assertThat(visit.find("#changes-problem")).isEmpty();
            assertThat(visit.find("#stream-text")).hasText("Live");
            visit.find("#pause").click();

            publish("page:unwanted:1", created("br-1"));
            publish("page:wanted:1", created("br-1"));
            publish(
                    "pa,ge:too:1",
                    new Change.Created(
                            Generators.timeBasedEpochGenerator().generate(),
                            new Owner("catalog"),
                            new Shard("br-1"),
                            null,
                            Map.of()));

            assertThat(visit.find("#stream-text")).hasText("Paused, 2 held back");
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
    void searchUpdatesOneMixedListWhileTypingAndItsCountsAreFilters() {
        try (Visit visit = Visit.to(chromium.browser(), demo.resolver())) {
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
            assertThat(visit.find(".found-in")).hasCount(3);
            assertThat(visit.find(".found-in[data-group='eu-1'] .hit"))
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
        try (Visit visit = Visit.to(chromium.browser(), demo.resolver())) {
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
        try (Visit visit = Visit.to(chromium.browser(), demo.resolver())) {
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
        publish(
                "soundcloud:tracks:hostile",
                new Change.Created(
                        Generators.timeBasedEpochGenerator().generate(),
                        new Owner("catalog"),
                        new Shard("br-1"),
                        null,
                        Map.of("title", hostile)));
        try (Visit visit = Visit.to(chromium.browser(), demo.resolver())) {
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
        try (Visit visit = Visit.to(chromium.browser(), demo.resolver())) {
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

    private static Consumer<Route> problem(int status, String type, String detail) {
        return route -> route.fulfill(new Route.FulfillOptions()
                .setStatus(status)
                .setContentType("application/problem+json")
                .setBody("{\"type\":\"https://puri.dev/problems/" + type + "\",\"detail\":\"" + detail + "\"}"));
    }

    @Test
    void chartsShowTheNumbersOfTheStatistics() throws Exception {
        publish("page:counted:1", created("br-9"));
        try (Visit visit = Visit.to(chromium.browser(), demo.resolver())) {
            assertThat(visit.find("#chart-shards li[data-name='br-9']")).isVisible();
            JsonNode stats = JSON.readTree(get("/v1/stats"));
            for (Map.Entry<String, String> chart : Map.of(
                            "collections", "byCollection", "shards", "byShard", "owners", "byOwner")
                    .entrySet()) {
                Map<String, String> told = new TreeMap<>();
                stats.get(chart.getValue())
                        .forEach(each -> told.put(
                                each.get("name").asText(), each.get("rows").asText()));
                Locator more = visit.find("#chart-" + chart.getKey() + " > button");
                if (more.isVisible()) {
                    more.click();
                }
                Map<String, String> shown = new TreeMap<>();
                for (Locator row :
                        visit.find("#chart-" + chart.getKey() + " li").all()) {
                    shown.put(
                            row.locator(".label .name").innerText(),
                            row.locator(".value").innerText().split("\\s")[0]);
                }
                assertThat(shown).as(chart.getKey()).isEqualTo(told);
                assertThat(visit.find("#chart-" + chart.getKey())).hasAccessibleName(Pattern.compile("Rows by .*"));
            }
            JsonNode byStatus = stats.get("byStatus");
            assertThat(visit.find("#chart-status svg"))
                    .hasAccessibleName(
                            "Rows by status: " + byStatus.get("active").asText() + " active, "
                                    + byStatus.get("merged").asText() + " merged, "
                                    + byStatus.get("deleted").asText() + " deleted");
            assertThat(visit.find("#figure-rows")).hasText(stats.get("rows").asText());
            // The longest bar has the full width, the others are proportional.
            assertThat(visit.page().evaluate("""
                    () => [...document.querySelectorAll('#chart-owners li')].every((row) => {
                      const bar = row.querySelector('.bar').getBoundingClientRect().width;
                      const most = document.querySelector('#chart-owners li').dataset.rows;
                      const filled = row.querySelector('.filled').getBoundingClientRect().width;
                      return Math.abs(filled - Math.max(2, bar * row.dataset.rows / most)) < 1;
                    })""")).isEqualTo(true);
            visit.assertNothingWentWrong(false);
        }
    }

    @Test
    void aChangedDeclarationIsDrawnEvenIfNoCountHasChanged() {
        String declared = """
                {"collections":[{"collection":"soundcloud:tracks","prefix":"%1$s","owners":["catalog"],"public":false,
                "description":"Told as %1$s"}],"total":1}""";
        try (Visit visit = new Visit(chromium.browser(), demo.resolver(), ColorScheme.LIGHT, 1280, 900)) {
            visit.page().route("**/v1/collections", answering(declared.formatted("old")));
            visit.open();
            Locator row = visit.find("#chart-collections li[data-name='soundcloud:tracks']");
            assertThat(row.locator(".about")).hasText("Told as old");

            visit.page().route("**/v1/collections", answering(declared.formatted("new")));
            assertThat(row.locator(".about")).hasText("Told as new");
            assertThat(row.locator(".tag")).hasText("new_");
            visit.assertNothingWentWrong(false);
        }
    }

    @Test
    void everythingIsDoneByKeyboard() {
        try (Visit visit = Visit.to(chromium.browser(), demo.resolver())) {
            Page page = visit.page();
            assertThat(visit.find("#stream-text")).hasText("Live");
            page.keyboard().press("Tab");
            assertThat(visit.find(".skip")).isFocused();
            assertThat(visit.find(".skip")).isInViewport();
            page.keyboard().press("Enter");
            page.keyboard().type("SoundCloud:Tracks:123 soundcloud:users:dj-ana");
            page.keyboard().press("Control+Enter");
            assertThat(visit.find(".results tbody tr")).hasCount(2);
            page.keyboard().press("Escape");

            page.keyboard().press("?");
            assertThat(visit.find("#keys")).isVisible();
            page.keyboard().press("Escape");
            assertThat(visit.find("#keys")).isHidden();
            page.keyboard().press("p");
            assertThat(visit.find("#pause")).hasAttribute("aria-pressed", "true");
            page.keyboard().press("p");
            page.keyboard().press("f");
            page.keyboard().type("page:p");
            assertThat(visit.find("#changes-filter")).hasValue("page:p");
            assertThat(visit.find("#pause")).hasAttribute("aria-pressed", "false");
            page.keyboard().press("Escape");

            // Every usable element gets the focus, in document order, and is visible.
            Object all = page.evaluate("""
                    () => {
                      window.reached = [];
                      document.activeElement.blur();
                      document.addEventListener('focusin', ({ target }) => {
                        const style = getComputedStyle(target);
                        window.reached.push([target, style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2]);
                      });
                      window.usable = [...document.querySelectorAll('a[href], button, input, textarea, [tabindex="0"]')]
                        .filter((each) => each.checkVisibility() && !each.closest('dialog'));
                      return window.usable.length;
                    }""");
            for (int i = 0; i < (int) all + 3; i++) {
                page.keyboard().press("Tab");
            }
            assertThat(page.evaluate("""
                    () => window.usable.filter((each) => !window.reached.some(([reached]) => reached === each))
                      .map((each) => each.outerHTML.slice(0, 80))""")).as("not reached").isEqualTo(List.of());
            assertThat(page.evaluate("""
                    () => window.reached.filter(([, isSeen]) => !isSeen).map(([each]) => each.outerHTML.slice(0, 80))""")).as("without a focus that is seen").isEqualTo(List.of());
            visit.assertNothingWentWrong(false);
        }
    }

    @Test
    void shortcutsOfOneKeyCanBeDisabled() {
        try (Visit visit = Visit.to(chromium.browser(), demo.resolver())) {
            visit.page().keyboard().press("?");
            visit.find("#keys-on").uncheck();
            visit.page().keyboard().press("Escape");
            visit.page().keyboard().press("p");
            assertThat(visit.find("#pause")).hasAttribute("aria-pressed", "false");
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ColorScheme.class,
            names = {"LIGHT", "DARK"})
    void textIsReadable(ColorScheme scheme) throws Exception {
        String contrast;
        try (InputStream script = Objects.requireNonNull(getClass().getResourceAsStream("/contrast.js"))) {
            contrast = new String(script.readAllBytes(), StandardCharsets.UTF_8);
        }
        try (Visit visit = new Visit(chromium.browser(), demo.resolver(), scheme, 1280, 900).open()) {
            visit.lookUp(String.join("\n", MIX));
            publish("page:read:" + scheme, created("br-1"));
            assertThat(visit.find("#changes li")).not().hasCount(0);
            visit.find("#pause").click();
            visit.find("#rejections-filter").fill("a:b");
            visit.find("#rejections-filter").press("Enter");
            assertThat(visit.find("#rejections-problem")).not().isEmpty();
            visit.find("#rejections-filter").fill("");
            visit.find("#rejections-filter").press("Enter");
            assertThat(visit.find("#rejections li")).not().hasCount(0);
            Map<?, ?> looked = (Map<?, ?>) visit.page().evaluate(contrast);
            assertThat(looked.get("poor")).isEqualTo(List.of());
            assertThat((int) looked.get("looked")).isGreaterThan(120);

            visit.page().route("**/health/*", notReady("{\"detail\":\"no broker answers\"}"));
            assertThat(visit.find("#banner")).isVisible();
            visit.page().keyboard().press("Escape");
            visit.page().keyboard().press("?");
            assertThat(((Map<?, ?>) visit.page().evaluate(contrast)).get("poor"))
                    .isEqualTo(List.of());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {360, 768, 1280, 2560})
    void nothingIsCutOffOrOverlapsAtAnyWidth(int width) {
        try (Visit visit = new Visit(chromium.browser(), demo.resolver(), ColorScheme.LIGHT, width, 800).open()) {
            visit.lookUp(String.join("\n", MIX) + "\nx:y:" + "long".repeat(60));
            assertThat(visit.find("#chart-owners li")).not().hasCount(0);
            assertThat(visit.page().evaluate("() => document.documentElement.scrollWidth"))
                    .isEqualTo(width);
            assertThat(visit.page().evaluate("""
                    () => [...document.querySelectorAll('main .name, main button')]
                      .filter((each) => each.checkVisibility() && !each.closest('.feed, .place'))
                      .filter((each) => { const box = each.getBoundingClientRect(); return box.left < 0 || box.right > innerWidth + 1; })
                      .map((each) => each.textContent)""")).isEqualTo(List.of());
        }
    }

    @Test
    void namesThatLookLikeMarkupAreText() throws Exception {
        String hostile = "<img src=x onerror=\"window.hurt=1\"><script>window.hurt=1</script>";
        String json = JSON.writeValueAsString(hostile);
        try (Visit visit = new Visit(chromium.browser(), demo.resolver(), ColorScheme.LIGHT, 1280, 900)) {
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
        try (Visit visit = Visit.to(chromium.browser(), demo.resolver())) {
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
    void thePageMissesNoChangeAfterTheResolverRestarts() throws Exception {
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
        Resolver first = resolver(demo.broker(), place);
        try (Visit visit = Visit.to(chromium.browser(), "http://127.0.0.1:" + port)) {
            assertThat(visit.find("#stream-text")).hasText("Live");
            publish("page:back:1", created("br-1"));
            assertThat(visit.find("#changes [data-puri='page:back:1']")).isVisible();

            first.close();
            assertThat(visit.find("#changes [data-event='bye']")).isVisible();
            assertThat(visit.find("#banner")).containsText("does not answer");
            assertThat(visit.find("#standing-text")).hasText("No answer");
            publish("page:back:2", created("br-1"));

            Resolver second = resolver(demo.broker(), place);
            try {
                assertThat(visit.find("#changes [data-puri='page:back:2']"))
                        .isVisible(new LocatorAssertions.IsVisibleOptions().setTimeout(40_000));
                assertThat(visit.find("#changes [data-puri='page:back:1']")).hasCount(1);
                assertThat(visit.find("#standing-text")).hasText("Ready");
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
        try (Visit visit = new Visit(chromium.browser(), demo.resolver(), ColorScheme.LIGHT, 1280, 900)) {
            visit.page().clock().install();
            visit.open();
            assertThat(visit.find("#stream-text")).hasText("Live");
            publish("page:seen:1", created("br-1"));
            assertThat(visit.find("#changes [data-puri='page:seen:1']")).isVisible();

            visit.page().evaluate(look, true);
            visit.page().clock().fastForward(61_000);
            assertThat(visit.find("#stream-text")).hasText("Resting");
            Position unseen = publish("page:unseen:1", created("br-1"));
            assertThat(get("/v1/identities/page:unseen:1?wait=20s&at=" + unseen))
                    .contains("found");
            visit.page().evaluate(look, false);

            assertThat(visit.find("#changes [data-puri='page:unseen:1']")).isVisible();
            assertThat(visit.find("#changes [data-puri='page:seen:1']")).hasCount(1);
            visit.assertNothingWentWrong(false);
        }
    }

    @Test
    void aTableThatCannotBeFilledReportsTheReasonAndTheRemedy() throws Exception {
        try (Resolver alone = resolver("127.0.0.1:1", Map.of("http.port", "0"));
                Visit visit = Visit.to(chromium.browser(), "http://127.0.0.1:" + alone.port())) {
            assertThat(visit.find("#banner")).containsText("PURI_BOOTSTRAP_SERVER");
            assertThat(visit.find("#standing-text")).hasText("Waiting");
            assertThat(visit.find("#stream-text")).hasText("Waiting for the table");
            visit.lookUp("soundcloud:tracks:123");
            assertThat(visit.find("#answers-problem")).containsText("Nothing is answered before the table is complete");
            visit.assertNothingWentWrong(true);
        }
    }

    @Test
    void thePageShowsTheFillingOfATableToItsEnd() {
        try (Visit visit = new Visit(chromium.browser(), demo.resolver(), ColorScheme.LIGHT, 1280, 900)) {
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
            assertThat(visit.find("#standing-text")).hasText("Ready");
            assertThat(visit.find("#banner")).isHidden();
            // The page repeats failed requests automatically.
            assertThat(visit.find(".results .found")).hasCount(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"<html><title>502 Bad Gateway</title></html>", "{\"message\":\"Bad Gateway\"}"})
    void aProxysResponseIsNotTakenForTheResolvers(String body) {
        String told = "Something on the way to the resolver answered, with status 502.";
        Consumer<Route> proxy = route -> route.fulfill(new Route.FulfillOptions()
                .setStatus(502)
                .setContentType(body.startsWith("<") ? "text/html" : "application/json")
                .setBody(body));
        try (Visit visit = Visit.to(chromium.browser(), demo.resolver())) {
            assertThat(visit.find("#standing-text")).hasText("Ready");
            visit.page().route("**/v1/resolve", proxy);
            visit.page().route("**/v1/rejections*", proxy);
            visit.lookUp("soundcloud:tracks:123");
            assertThat(visit.find("#answers-problem")).hasText(told);
            assertThat(visit.find("#rejections-problem")).hasText(told);

            // A 503 of health itself is an answer; a proxy's is not.
            visit.page().route("**/health/*", notReady("{\"detail\":\"no broker answers\"}"));
            assertThat(visit.find("#standing-text")).hasText("Waiting");
            visit.page().route("**/health/*", proxy);
            assertThat(visit.find("#standing-text")).hasText("No answer");

            visit.page().unrouteAll();
            assertThat(visit.find("#standing-text")).hasText("Ready");
            assertThat(visit.find(".results .found")).hasCount(1);
            assertThat(visit.find("#rejections-problem")).isEmpty();
            visit.assertNothingWentWrong(true);
        }
    }

    @Test
    void thePageOfAnEmptyTableExplainsTheFirstSteps() {
        try (Visit visit = new Visit(chromium.browser(), demo.resolver(), ColorScheme.LIGHT, 1280, 900)) {
            visit.page().route("**/health/*", answering("""
                    {"status":"UP","checks":[{"name":"table","status":"UP","data":{"topic":"puri.identities.v1","rows":0,"reached":0,
                    "end":0,"behind":0}}]}"""));
            visit.open();
            assertThat(visit.find("#banner")).containsText("Nothing is registered yet");
            assertThat(visit.find("#banner pre")).containsText("./puri publish -f examples/music/events.jsonl --wait");
        }
    }

    @Test
    void thePageAsksForATokenAndEachPartReportsAMissingScope() throws Exception {
        String all = "every-scope-7f3a9c1e5b2d8f60";
        String few = "look-ups-only-1b8e4d7a2c9f5036";
        Path tokens = Files.writeString(
                folder.resolve("tokens"),
                "all resolve,changes,admin " + sha256(all) + "\nfew resolve " + sha256(few) + "\n");
        try (Resolver guarded = resolver(demo.broker(), Map.of("http.port", "0", "auth.tokens", tokens.toString()));
                Visit visit = Visit.to(chromium.browser(), "http://127.0.0.1:" + guarded.port())) {
            assertThat(visit.find("#token")).isVisible();
            assertThat(visit.find("#token-text")).isFocused();
            visit.page().keyboard().type("no-such-token");
            visit.page().keyboard().press("Enter");
            assertThat(visit.find("#token-problem")).containsText("not good here");

            visit.page().keyboard().type(few);
            visit.page().keyboard().press("Enter");
            assertThat(visit.find("#token")).isHidden();
            assertThat(visit.find("#rejections-problem")).containsText("does not allow admin");
            assertThat(visit.find("#changes-problem")).containsText("does not allow changes");
            assertThat(visit.find("#standing-text")).hasText("Ready");
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
            visit.find("#token-forget").click();
            assertThat(visit.find("#rejections-problem")).hasText("This needs a token.");
            assertThat(visit.page().evaluate("() => sessionStorage.length")).isEqualTo(0);
            visit.assertNothingWentWrong(true);
        }
    }

    /** Run with {@code -Dpuri.screenshot}, it makes docs/page.png; first, while only the sample exists. */
    @Test
    @Order(1)
    @EnabledIfSystemProperty(
            named = "puri.screenshot",
            matches = ".*",
            disabledReason = "asked for by -Dpuri.screenshot")
    void theScreenshotIsTaken() throws Exception {
        Path picture = Path.of(System.getProperty("basedir"), "..", "docs", "page.png");
        try (Visit visit = new Visit(chromium.browser(), demo.resolver(), ColorScheme.LIGHT, 1280, 1500).open()) {
            assertThat(visit.find("#stream-text")).hasText("Live");
            Map<String, Change> happenings = new HashMap<>();
            for (int i = 1; i <= 4; i++) {
                happenings.put("soundcloud:tracks:" + (900 + i), created(i % 2 == 0 ? "br-1" : "us-1"));
            }
            happenings.forEach((name, change) -> publish(name, change));
            publish("soundcloud:tracks:903", new Change.Moved(null, new Shard("eu-1")));
            publish("soundcloud:playlists:21", new Change.Deleted());
            visit.lookUp(
                    "SoundCloud:Tracks:123\nsoundcloud:users:dj-ana\nsoundcloud:comments:7\nsoundcloud:playlists:9\nsoundcloud:tracks:nobody");
            assertThat(visit.find("#changes li")).hasCount(6);
            assertThat(visit.find("#spark svg")).hasAccessibleName("6 changes in the last minute");
            assertThat(visit.find("#figure-rows")).hasText("366");
            visit.find("h1").click();
            visit.page()
                    .screenshot(new Page.ScreenshotOptions().setPath(picture).setFullPage(true));
        }
        assertThat(Files.size(picture)).isLessThan(500_000);
    }

    private static Resolver resolver(String broker, Map<String, String> more) {
        Map<String, String> settings = new HashMap<>(more);
        settings.put("bootstrap.server", broker);
        settings.put("schema.registry", demo.schemaRegistry());
        return Resolver.start(Settings.read(ResolverSettings.class, settings, Map.of(), null));
    }

    private static Consumer<Route> notReady(String details) {
        return route -> route.fulfill(new Route.FulfillOptions()
                .setStatus(503)
                .setContentType("application/json")
                .setBody("{\"status\":\"DOWN\",\"checks\":[{\"name\":\"table\",\"status\":\"DOWN\",\"data\":" + details
                        + "}]}"));
    }

    private static Consumer<Route> answering(String json) {
        return route -> route.fulfill(
                new Route.FulfillOptions().setContentType("application/json").setBody(json));
    }

    private static Change created(String shard) {
        return new Change.Created(
                Generators.timeBasedEpochGenerator().generate(),
                new Owner("catalog"),
                new Shard(shard),
                null,
                Map.of());
    }

    private static Position publish(String puri, Change change) {
        Event event = new Event(
                Generators.timeBasedEpochGenerator().generate(),
                Puri.parse(puri),
                Instant.now(),
                "page-it",
                null,
                null,
                change);
        return publisher.publish(event).toCompletableFuture().join();
    }

    private static String get(String path) throws Exception {
        return http.send(
                        HttpRequest.newBuilder(URI.create(demo.resolver() + path))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private static String post(Map<String, ?> body) throws Exception {
        return http.send(
                        HttpRequest.newBuilder(URI.create(demo.resolver() + "/v1/resolve"))
                                .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body)))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private static String sha256(String text) throws Exception {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    }
}
