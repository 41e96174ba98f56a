package dev.puri.acceptance;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.puri.acceptance.DemoInChromium.created;
import static dev.puri.acceptance.FakeAnswers.notReady;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The page by keyboard, in light and dark mode, at any width. */
@Timeout(240)
final class PageAccessibilityIT {
    private static DemoInChromium demo;

    @BeforeAll
    static void start() throws Exception {
        demo = DemoInChromium.shared();
    }

    @Test
    void everythingIsDoneByKeyboard() {
        try (Visit visit = demo.visit()) {
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
                    () => window.reached.filter(([, isSeen]) => !isSeen).map(([each]) => each.outerHTML.slice(0, 80))""")).as("without visible focus").isEqualTo(List.of());
            visit.assertNothingWentWrong(false);
        }
    }

    @Test
    void shortcutsOfOneKeyCanBeDisabled() {
        try (Visit visit = demo.visit()) {
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
        try (Visit visit = demo.unopened(scheme, 1280, 900).open()) {
            visit.lookUp(String.join("\n", DemoInChromium.MIX));
            demo.publish("page:read:" + scheme, created("br-1"));
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
        try (Visit visit = demo.unopened(ColorScheme.LIGHT, width, 800).open()) {
            visit.lookUp(String.join("\n", DemoInChromium.MIX) + "\nx:y:" + "long".repeat(60));
            assertThat(visit.find("#chart-owners li")).not().hasCount(0);
            assertThat(visit.page().evaluate("() => document.documentElement.scrollWidth"))
                    .isEqualTo(width);
            assertThat(visit.page().evaluate("""
                    () => [...document.querySelectorAll('main .name, main button')]
                      .filter((each) => each.checkVisibility() && !each.closest('.feed, .shard'))
                      .filter((each) => { const box = each.getBoundingClientRect(); return box.left < 0 || box.right > innerWidth + 1; })
                      .map((each) => each.textContent)""")).isEqualTo(List.of());
        }
    }
}
