package dev.puri.acceptance;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.puri.acceptance.DemoInChromium.created;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The picture of the page in the documentation. */
@Timeout(240)
final class PageScreenshotIT {
    /** Run with {@code -Dpuri.screenshot}, it makes docs/page.png, on a demo of its own that has only the sample. */
    @Test
    @EnabledIfSystemProperty(
            named = "puri.screenshot",
            matches = ".*",
            disabledReason = "enable it with -Dpuri.screenshot")
    void theScreenshotIsTaken(@TempDir Path folder) throws Exception {
        Path picture = Path.of(System.getProperty("basedir"), "..", "..", "docs", "page.png");
        try (DemoInChromium demo = DemoInChromium.start(folder);
                Visit visit = demo.unopened(ColorScheme.LIGHT, 1280, 1500).open()) {
            assertThat(visit.find("#stream-text")).hasText("Live");
            Map<String, Change> changes = new HashMap<>();
            for (int i = 1; i <= 4; i++) {
                changes.put("soundcloud:tracks:" + (900 + i), created(i % 2 == 0 ? "br-1" : "us-1"));
            }
            changes.forEach((name, change) -> demo.publish(name, change));
            demo.publish("soundcloud:tracks:903", new Change.Moved(null, new Shard("eu-1")));
            demo.publish("soundcloud:playlists:21", new Change.Deleted());
            visit.lookUp(
                    "SoundCloud:Tracks:123\nsoundcloud:users:dj-ana\nsoundcloud:comments:7\nsoundcloud:playlists:9\nsoundcloud:tracks:nobody");
            assertThat(visit.find("#changes li")).hasCount(6);
            assertThat(visit.find("#sparkline svg")).hasAccessibleName("6 changes in the last minute");
            assertThat(visit.find("#figure-rows")).hasText("366");
            visit.find("h1").click();
            visit.page()
                    .screenshot(new Page.ScreenshotOptions().setPath(picture).setFullPage(true));
        }
        assertThat(Files.size(picture)).isLessThan(500_000);
    }
}
