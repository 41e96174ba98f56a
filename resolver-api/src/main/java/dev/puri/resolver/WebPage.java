package dev.puri.resolver;

import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.http.Route;
import dev.puri.http.Scope;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Serves the files of the web page. The files need no token: the page requests its data with the user's token.
 */
final class WebPage {
    /** The file of {@code /}. */
    private static final String INDEX = "index.html";

    /** All files; the class path is not searched for other names. */
    static final List<String> FILES = List.of(
            INDEX,
            "app.css",
            "icon.svg",
            "app.js",
            "api.js",
            "changes.js",
            "dom.js",
            "events.js",
            "figures.js",
            "keys.js",
            "lookup.js",
            "readiness.js",
            "rejections.js",
            "search.js");

    /**
     * Allows content from this origin only, and no script or style inside the markup. A browser that supports Trusted
     * Types also refuses to use text as markup.
     */
    private static final String CONTENT_SECURITY_POLICY = String.join(
            "; ",
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'");

    private static final Map<String, String> MEDIA_TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "svg", "image/svg+xml");

    private record File(String mediaType, byte[] bytes, String etag) {}

    private final Map<String, File> files = new LinkedHashMap<>();

    /** Reads all files from the class path. */
    WebPage() {
        for (String name : FILES) {
            byte[] bytes = read(name);
            String mediaType = Objects.requireNonNull(MEDIA_TYPES.get(name.substring(name.indexOf('.') + 1)), name);
            files.put(name, new File(mediaType, bytes, '"' + hash(bytes) + '"'));
        }
    }

    List<Route> routes() {
        return List.of(
                // Other sites may add query parameters to a link.
                Route.get("/", Scope.NONE, exchange -> answer(exchange, INDEX)).ignoringUnknownQuery(),
                Route.get("/page/{file}", Scope.NONE, exchange -> answer(exchange, exchange.parameter())));
    }

    private void answer(Exchange exchange, String name) {
        File file = files.get(name);
        if (file == null) {
            exchange.problem(Problem.of(ProblemType.NO_SUCH_PATH, "The page has no such file."));
            return;
        }
        exchange.header("content-security-policy", CONTENT_SECURITY_POLICY)
                .header("referrer-policy", "no-referrer")
                .header("cross-origin-resource-policy", "same-origin")
                .answerWithEtag(file.mediaType, file.bytes, file.etag);
    }

    private static byte[] read(String name) {
        try (InputStream resource = Objects.requireNonNull(WebPage.class.getResourceAsStream("/page/" + name), name)) {
            return resource.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String hash(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes), 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
