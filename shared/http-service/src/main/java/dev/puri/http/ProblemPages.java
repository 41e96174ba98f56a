package dev.puri.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;

/** Pages at {@code GET /problems/{name}}, which explain each problem type: what happened and how to fix it. */
public final class ProblemPages {
    private static final String MEDIA_TYPE = "text/html; charset=utf-8";
    private static final String POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    private static final String STYLE = ":root{color-scheme:light dark;font:1rem/1.6 system-ui,sans-serif}"
            + "main{max-width:40rem;margin:3rem auto;padding:0 1rem}code{font-size:.95em}small{opacity:.7}";

    private final Map<String, byte[]> pages = new TreeMap<>();

    private ProblemPages() {}

    /**
     * Returns the route that serves a page for each problem type of a listener and its endpoints.
     *
     * @param types the problem types of the endpoints
     * @param anchor a class of the module that contains the properties file
     * @param resource the properties file: explanations by the name of the type; line breaks separate paragraphs
     * @throws IllegalStateException if a type has no explanation, or an explanation has no type
     */
    public static Route route(List<ProblemType> types, Class<?> anchor, String resource) {
        ProblemPages problemPages = new ProblemPages();
        problemPages.add(ProblemType.ofListeners(), read(ProblemPages.class, "problems.properties"));
        problemPages.add(types, read(anchor, resource));
        return Route.get("/problems/{name}", Scope.NONE, problemPages::answer);
    }

    private void add(List<ProblemType> types, Properties explanations) {
        for (ProblemType type : types) {
            String explanation = (String) explanations.remove(type.name());
            if (explanation == null) {
                throw new IllegalStateException("the problem " + type.name() + " has no explanation");
            }
            pages.put(type.name(), page(type, explanation).getBytes(StandardCharsets.UTF_8));
        }
        if (!explanations.isEmpty()) {
            throw new IllegalStateException(
                    "explanations without a problem type: " + new TreeSet<>(explanations.keySet()));
        }
    }

    private static Properties read(Class<?> anchor, String name) {
        Properties explanations = new Properties();
        try (InputStream resource = Objects.requireNonNull(anchor.getResourceAsStream(name), name);
                Reader reader = new InputStreamReader(resource, StandardCharsets.UTF_8)) {
            explanations.load(reader);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return explanations;
    }

    private static String page(ProblemType type, String explanation) {
        StringBuilder html = new StringBuilder(1024);
        html.append("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>")
                .append(escape(type.title()))
                .append("</title>\n<meta name=\"viewport\" content=\"width=device-width\">\n<style>")
                .append(STYLE)
                .append("</style>\n<main>\n<h1>")
                .append(escape(type.title()))
                .append("</h1>\n");
        explanation
                .lines()
                .forEach(paragraph -> html.append("<p>")
                        .append(escape(paragraph.strip()).replaceAll("`([^`]*)`", "<code>$1</code>"))
                        .append("</p>\n"));
        return html.append("<p><small>")
                .append(type.uri())
                .append(", status ")
                .append(type.status())
                .append("</small></p>\n</main>\n</html>\n")
                .toString();
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private void answer(Exchange exchange) {
        byte[] page = pages.get(exchange.parameter());
        if (page == null) {
            exchange.problem(Problem.of(
                    ProblemType.NO_SUCH_PATH, "The problem types are " + String.join(", ", pages.keySet()) + "."));
            return;
        }
        exchange.header("content-security-policy", POLICY).answer(200, MEDIA_TYPE, page);
    }
}
