package dev.puri.acceptance;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.microsoft.playwright.Locator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Look-ups on the page: verdicts, the plan by shard, and links. */
@Timeout(240)
final class PageLookUpIT {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static DemoInChromium demo;

    @BeforeAll
    static void start() throws Exception {
        demo = DemoInChromium.shared();
    }

    @Test
    void aMixOfNamesIsAnsweredWithVerdictsAndAPlan() throws Exception {
        JsonNode answer = JSON.readTree(demo.post(Map.of("refs", DemoInChromium.MIX, "groupBy", "shard")));
        try (Visit visit = demo.visit()) {
            visit.lookUp(String.join("\n", DemoInChromium.MIX));

            Locator rows = visit.find(".results tbody tr");
            assertThat(rows).hasCount(DemoInChromium.MIX.size());
            for (int i = 0; i < DemoInChromium.MIX.size(); i++) {
                JsonNode result = answer.at("/results/" + i);
                Locator row = rows.nth(i);
                assertThat(row.locator(".column-ref")).containsText(DemoInChromium.MIX.get(i));
                assertThat(row.locator(".column-verdict"))
                        .hasText(result.get("verdict").asText());
                for (String place : List.of("owner", "shard", "uuid")) {
                    if (result.has(place)) {
                        assertThat(row).containsText(result.get(place).asText());
                    }
                }
            }
            assertThat(rows.nth(3)).containsText("merged into soundcloud:users:ana.souza");
            assertThat(visit.find("#answers-summary"))
                    .hasText("4 found, 1 merged, 1 deleted, 1 unknown, 1 malformed; 3 shards to query");

            answer.get("shards").properties().forEach(shard -> {
                Locator card = visit.find(".shard[data-shard='" + shard.getKey() + "']");
                List<String> uuids = new ArrayList<>();
                shard.getValue()
                        .forEach(index -> uuids.add(
                                answer.at("/results/" + index.asInt() + "/uuid").asText()));
                assertThat(card.locator(".uuid").allInnerTexts())
                        .containsExactlyElementsOf(uuids.stream().distinct().toList());
            });
            // The merged name and its survivor are one row.
            assertThat(visit.find(".shard[data-shard='br-1'] li")
                            .filter(new Locator.FilterOptions().setHasText("#2 #4")))
                    .hasCount(1);
            visit.assertNothingWentWrong(false);
        }
    }

    @Test
    void aLinkContainsTheQuery() {
        try (Visit first = demo.visit();
                Visit colleague = demo.visit()) {
            first.lookUp("[\"SoundCloud:Tracks:123\", \"soundcloud:tracks:78\"]");
            colleague.page().navigate(first.page().url());

            assertThat(colleague.find(".results tbody tr")).hasCount(2);
            assertThat(colleague.find(".results .found")).hasCount(2);
        }
    }
}
