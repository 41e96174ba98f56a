package dev.puri.acceptance;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.PlaywrightException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;

/**
 * The system's Chromium, driven by Playwright, which downloads none of its own and turns off the sandbox,
 * which does not work for root: nothing but our own page is opened.
 */
final class Chromium implements AutoCloseable {
    private static final Path USUAL = Path.of("/usr/bin/chromium");

    private final Playwright playwright;
    private final Browser browser;

    private Chromium(Playwright playwright, Browser browser) {
        this.playwright = playwright;
        this.browser = browser;
    }

    /** Skips the tests if Chromium is missing; on the build server they fail. */
    static Path require() {
        String named = System.getenv("PURI_CHROMIUM");
        Path chromium = named == null ? USUAL : Path.of(named);
        if (Files.isExecutable(chromium)) {
            return chromium;
        }
        String missing = "no Chromium at " + chromium + "; install one (Debian's package is chromium), or let"
                + " PURI_CHROMIUM name it";
        if (Boolean.parseBoolean(System.getenv("CI"))) {
            throw new AssertionError(missing);
        }
        Assumptions.abort(missing);
        throw new IllegalStateException("not aborted");
    }

    static Chromium start(Path executable) {
        Playwright playwright = Playwright.create(
                new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        try {
            List<String> options = List.of(
                    "--disable-gpu",
                    "--disable-quic",
                    "--no-first-run",
                    // Chromium's own background requests are not part of the page.
                    "--disable-background-networking",
                    "--disable-component-update",
                    "--disable-sync");
            return new Chromium(
                    playwright,
                    playwright
                            .chromium()
                            .launch(new BrowserType.LaunchOptions()
                                    .setExecutablePath(executable)
                                    .setArgs(options)));
        } catch (PlaywrightException e) {
            playwright.close();
            throw new AssertionError(executable + " cannot be driven by this Playwright: " + e.getMessage(), e);
        }
    }

    Browser browser() {
        return browser;
    }

    @Override
    public void close() {
        browser.close();
        playwright.close();
    }
}
