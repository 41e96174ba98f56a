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

/**
 * Pages that explain the problems, at {@code GET /problems/{name}}: what happened and how to fix it.
 */
public final class ProblemPages {
    private static final String MEDIA_TYPE = "text/html; charset=utf-8";
    private static final String POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    private static final String STYLE = ":root{color-scheme:light dark;font:1rem/1.6 system-ui,sans-serif}"
            + "main{max-width:40rem;margin:3rem auto;padding:0 1rem}code{font-size:.95em}small{opacity:.7}";

    private final Map<String, byte[]> pages = new TreeMap<>();

    private ProblemPages() {}

    /**
     * Returns the route of the pages of all problems of a listener and its endpoints.
     *
     * @param types the problem types of the endpoints
     * @param texts a class of the module that contains their explanations
     * @param resource properties file of explanations by name of the type; line breaks separate paragraphs
     * @throws IllegalStateException if a type has no explanation, or an explanation has no type
     */
    public static Route route(List<ProblemType> types, Class<?> texts, String resource) {
        ProblemPages all = new ProblemPages();
        all.add(ProblemType.ofListeners(), read(ProblemPages.class, "problems.properties"));
        all.add(types, read(texts, resource));
        return Route.get("/problems/{name}", Scope.NONE, all::answer);
    }

    private void add(List<ProblemType> types, Properties texts) {
        for (ProblemType type : types) {
            String text = (String) texts.remove(type.name());
            if (text == null) {
                throw new IllegalStateException("the problem " + type.name() + " has no explanation");
            }
            pages.put(type.name(), page(type, text).getBytes(StandardCharsets.UTF_8));
        }
        if (!texts.isEmpty()) {
            throw new IllegalStateException("there are no such problems: " + new TreeSet<>(texts.keySet()));
        }
    }

    private static Properties read(Class<?> beside, String name) {
        Properties texts = new Properties();
        try (InputStream resource = Objects.requireNonNull(beside.getResourceAsStream(name), name);
                Reader reader = new InputStreamReader(resource, StandardCharsets.UTF_8)) {
            texts.load(reader);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return texts;
    }

    private static String page(ProblemType type, String text) {
        StringBuilder html = new StringBuilder(1024);
        html.append("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>")
                .append(escaped(type.title()))
                .append("</title>\n<meta name=\"viewport\" content=\"width=device-width\">\n<style>")
                .append(STYLE)
                .append("</style>\n<main>\n<h1>")
                .append(escaped(type.title()))
                .append("</h1>\n");
        text.lines()
                .forEach(paragraph -> html.append("<p>")
                        .append(escaped(paragraph.strip()).replaceAll("`([^`]*)`", "<code>$1</code>"))
                        .append("</p>\n"));
        return html.append("<p><small>")
                .append(type.uri())
                .append(", status ")
                .append(type.status())
                .append("</small></p>\n</main>\n</html>\n")
                .toString();
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private void answer(Exchange exchange) {
        byte[] page = pages.get(exchange.parameter());
        if (page == null) {
            exchange.problem(Problem.of(
                    ProblemType.NO_SUCH_PATH, "The problems are " + String.join(", ", pages.keySet()) + "."));
            return;
        }
        exchange.header("content-security-policy", POLICY).answer(200, MEDIA_TYPE, page);
    }
}
