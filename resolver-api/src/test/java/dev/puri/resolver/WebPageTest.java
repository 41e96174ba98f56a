package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.http.Listener;
import dev.puri.http.ListenerOptions;
import dev.puri.http.Metrics;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class WebPageTest {
    private final Metrics metrics = new Metrics();
    private final HttpClient client = HttpClient.newHttpClient();
    private Listener listener;

    @BeforeEach
    void start() {
        listener = Listener.start(ListenerOptions.at("127.0.0.1", 0), new WebPage().routes(), metrics);
    }

    @AfterEach
    void stop() {
        listener.close();
        metrics.close();
        client.close();
    }

    @Test
    void servesEveryFileWithItsMediaType() throws Exception {
        Path folder = Path.of(Objects.requireNonNull(getClass().getResource("/page/index.html"))
                        .toURI())
                .getParent();
        Set<String> files;
        try (Stream<Path> found = Files.list(folder)) {
            files = found.map(file -> file.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
        }
        assertThat(WebPage.FILES).containsExactlyInAnyOrderElementsOf(files);
        for (String file : files) {
            HttpResponse<String> answer = get("/page/" + file, "");
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEqualTo(Files.readString(folder.resolve(file)));
            assertThat(header(answer, "content-type")).matches("(text|image)/[a-z+]+(; charset=utf-8)?");
            assertThat(header(answer, "x-content-type-options")).isEqualTo("nosniff");
            assertThat(header(answer, "content-security-policy")).startsWith("default-src 'none'; script-src 'self';");
        }
        assertThat(get("/?from=a-colleague", "").body()).isEqualTo(Files.readString(folder.resolve("index.html")));
    }

    @Test
    void respondsNotModifiedToAKnownEtag() throws Exception {
        HttpResponse<String> first = get("/page/app.css", "");
        String etag = header(first, "etag");
        assertThat(header(first, "cache-control")).isEqualTo("no-cache");
        for (String had : Set.of(etag, "W/" + etag, "\"other\", " + etag, "*")) {
            HttpResponse<String> again = get("/page/app.css", had);
            assertThat(again.statusCode()).as(had).isEqualTo(304);
            assertThat(again.body()).isEmpty();
            assertThat(header(again, "etag")).isEqualTo(etag);
            assertThat(again.headers().firstValue("content-length")).isEmpty();
        }
        assertThat(get("/page/app.css", "\"other\"").statusCode()).isEqualTo(200);
        assertThat(get("/page/app.js", etag).statusCode()).isEqualTo(200);
    }

    @Test
    void otherPathsAreNotFound() throws Exception {
        for (String none : Set.of("", "nothing.js", "..%2fopenapi.json", "%2e%2e%2fopenapi.json", "../openapi.json")) {
            HttpResponse<String> answer = get("/page/" + none, "");
            assertThat(answer.statusCode()).as(none).isEqualTo(404);
            assertThat(header(answer, "cache-control")).isEqualTo("no-store");
        }
    }

    /** Constructs that the policy forbids in a browser, so that no reviewer has to look for them. */
    @Test
    void noFileNamesAnotherHostOrMakesMarkupOfText() throws Exception {
        Pattern forbidden = Pattern.compile(
                "(?<!xmlns=\"|SVG = \")https?://|innerHTML|outerHTML|insertAdjacentHTML|document\\.write|eval\\(|\\sstyle=|\\son[a-z]+=");
        for (String file : WebPage.FILES) {
            assertThat(get("/page/" + file, "").body()).as(file).doesNotContainPattern(forbidden);
        }
    }

    private static String header(HttpResponse<?> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }

    private HttpResponse<String> get(String path, String etag) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + listener.port() + path));
        if (!etag.isEmpty()) {
            request.header("If-None-Match", etag);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
}
