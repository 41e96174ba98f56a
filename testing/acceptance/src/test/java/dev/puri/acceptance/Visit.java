package dev.puri.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import java.net.URI;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * One user with the page open. Records invisible failures: errors, violations of the
 * policy, and requests to other hosts.
 */
final class Visit implements AutoCloseable {
    /** Counts violations of the page's policy; the browser injects it, so the policy does not block it. */
    private static final String WATCH = """
            window.stopped = [];
            addEventListener("securitypolicyviolation", (e) => window.stopped.push(e.violatedDirective + " " + e.blockedURI));
            """;

    /** The message that a browser logs for every error response; it cannot be disabled. */
    private static final String FAILED_ANSWER = "Failed to load resource: the server responded with a status of";

    private final BrowserContext context;
    private final String base;
    private final Page page;
    private final Queue<String> errors = new ConcurrentLinkedQueue<>();
    private final Queue<String> answersThatFailed = new ConcurrentLinkedQueue<>();
    private final Queue<String> elsewhere = new ConcurrentLinkedQueue<>();

    Visit(Browser browser, String base, ColorScheme scheme, int width, int height) {
        this.base = base;
        context = browser.newContext(
                new Browser.NewContextOptions().setColorScheme(scheme).setViewportSize(width, height));
        context.setDefaultTimeout(20_000);
        context.addInitScript(WATCH);
        page = context.newPage();
        page.onPageError(errors::add);
        page.onConsoleMessage(message -> {
            if (message.text().startsWith(FAILED_ANSWER)) {
                answersThatFailed.add(message.text());
            } else if (message.type().equals("error") || message.type().equals("warning")) {
                errors.add(message.text());
            }
        });
        String authority = URI.create(base).getAuthority();
        page.onRequest(request -> {
            if (!authority.equals(URI.create(request.url()).getAuthority())) {
                elsewhere.add(request.url());
            }
        });
    }

    static Visit to(Browser browser, String base) {
        Visit visit = new Visit(browser, base, ColorScheme.LIGHT, 1280, 900);
        visit.open();
        return visit;
    }

    Visit open() {
        page.navigate(base + "/");
        return this;
    }

    Page page() {
        return page;
    }

    Locator find(String css) {
        return page.locator(css);
    }

    /** Looks names up as a person does. */
    void lookUp(String text) {
        page.locator("#refs").fill(text);
        page.locator("#refs").press("Control+Enter");
        page.waitForFunction("() => !document.querySelector('#answers').hasAttribute('aria-busy')"
                + " && document.querySelector('#answers .results, #answers-problem p')");
    }

    /** Fails on errors that the page does not show; error responses may be part of a test. */
    void assertNothingWentWrong(boolean answersMayFail) {
        assertThat(errors).as("errors").isEmpty();
        assertThat(elsewhere).as("requests to other hosts").isEmpty();
        assertThat(page.evaluate("() => window.stopped"))
                .as("stopped by the policy")
                .isEqualTo(List.of());
        if (!answersMayFail) {
            assertThat(answersThatFailed).as("answers that are errors").isEmpty();
        }
    }

    @Override
    public void close() {
        context.close();
    }
}
