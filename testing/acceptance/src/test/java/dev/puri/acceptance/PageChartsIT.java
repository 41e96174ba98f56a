package dev.puri.acceptance;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.puri.acceptance.DemoInChromium.created;
import static dev.puri.acceptance.FakeAnswers.answering;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.microsoft.playwright.Locator;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page's charts of the table. */
@Timeout(240)
final class PageChartsIT {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static DemoInChromium demo;

    @BeforeAll
    static void start() throws Exception {
        demo = DemoInChromium.shared();
    }

    @Test
    void chartsShowTheNumbersOfTheStatistics() throws Exception {
        demo.publish("page:counted:1", created("br-9"));
        try (Visit visit = demo.visit()) {
            assertThat(visit.find("#chart-shards li[data-name='br-9']")).isVisible();
            JsonNode stats = JSON.readTree(demo.get("/v1/stats"));
            for (Map.Entry<String, String> chart : Map.of(
                            "collections", "byCollection", "shards", "byShard", "owners", "byOwner")
                    .entrySet()) {
                Map<String, String> expected = new TreeMap<>();
                stats.get(chart.getValue())
                        .forEach(each -> expected.put(
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
                assertThat(shown).as(chart.getKey()).isEqualTo(expected);
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
                "description":"Declared as %1$s"}],"total":1}""";
        try (Visit visit = demo.unopened()) {
            visit.page().route("**/v1/collections", answering(declared.formatted("old")));
            visit.open();
            Locator row = visit.find("#chart-collections li[data-name='soundcloud:tracks']");
            assertThat(row.locator(".description")).hasText("Declared as old");

            visit.page().route("**/v1/collections", answering(declared.formatted("new")));
            assertThat(row.locator(".description")).hasText("Declared as new");
            assertThat(row.locator(".tag")).hasText("new_");
            visit.assertNothingWentWrong(false);
        }
    }
}
