package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.settings.Secret;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The HTTP API of a server of ours, as a command asks it. Whatever goes wrong is said for the person who typed.
 *
 * @param console is told what is waited for
 * @param server what it is
 * @param option that names one
 * @param example of an address
 * @param base its address
 * @param token that it may ask for
 */
record Api(Console console, String server, String option, String example, URI base, Optional<Secret> token) {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /** How long a server may say that it is not ready. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Duration PAUSE = Duration.ofSeconds(1);
    private static final int UNAVAILABLE = 503;

    /** What was answered, as it came and as what it means. */
    record Answer(String text, JsonNode json) {}

    static Api resolver(Console console, CliSettings settings) {
        return new Api(console, "resolver", "--resolver", CliSettings.RESOLVER, settings.resolver(), settings.token());
    }

    static Api search(Console console, CliSettings settings) {
        return new Api(console, "search indexer", "--search", CliSettings.SEARCH, settings.search(), settings.token());
    }

    Answer get(String path) throws InterruptedException {
        return ask(request(path));
    }

    Answer post(String path, String json) throws InterruptedException {
        return ask(request(path).header("Content-Type", "application/json").POST(BodyPublishers.ofString(json)));
    }

    /** Asks with nothing in the body. */
    Answer post(String path) throws InterruptedException {
        return ask(request(path).POST(BodyPublishers.noBody()));
    }

    Answer delete(String path) throws InterruptedException {
        return ask(request(path).DELETE());
    }

    private Answer ask(HttpRequest.Builder asked) throws InterruptedException {
        HttpRequest request = asked.timeout(TIMEOUT).build();
        try (HttpClient client = client()) {
            HttpResponse<String> response = whenReady(client, request);
            requireSuccess(request, response.statusCode(), response::body);
            return new Answer(response.body(), parsed(response.body()));
        } catch (IOException e) {
            throw outOfReach(request, e);
        }
    }

    /** Asks until it is another answer than 503, which a server gives that starts, fills its table or is overloaded. */
    private HttpResponse<String> whenReady(HttpClient client, HttpRequest request)
            throws IOException, InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        String last = "";
        while (true) {
            HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
            if (response.statusCode() != UNAVAILABLE || System.nanoTime() > end) {
                return response;
            }
            String reason = problem(response.body());
            if (!reason.equals(last)) {
                console.say("puri: waiting for the " + server + " at " + withoutQuery(request.uri()) + ": " + reason);
                last = reason;
            }
            Thread.sleep(PAUSE);
        }
    }

    /**
     * Asks for lines of JSON, for as long as they come.
     *
     * @param each is given them one by one
     */
    void lines(String path, Consumer<Answer> each) throws InterruptedException {
        HttpRequest request = request(path).build();
        try (HttpClient client = client()) {
            // A timeout of the request's own would be one of the whole answer, from Java 26 on.
            HttpResponse<Stream<String>> response =
                    client.sendAsync(request, BodyHandlers.ofLines()).get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            try (Stream<String> lines = response.body()) {
                requireSuccess(request, response.statusCode(), () -> lines.collect(Collectors.joining("\n")));
                lines.filter(line -> !line.isBlank()).forEach(line -> each.accept(new Answer(line, parsed(line))));
            }
        } catch (UncheckedIOException | TimeoutException e) {
            throw outOfReach(request, e);
        } catch (ExecutionException e) {
            throw outOfReach(request, e.getCause() == null ? e : e.getCause());
        }
    }

    private static HttpClient client() {
        return HttpClient.newBuilder().connectTimeout(CONNECT_TIMEOUT).build();
    }

    private HttpRequest.Builder request(String path) {
        URI uri = URI.create(base.toString().replaceFirst("/+$", "") + path);
        HttpRequest.Builder request;
        try {
            request = HttpRequest.newBuilder(uri);
        } catch (IllegalArgumentException e) {
            throw CommandException.usage(option + ": " + uri + " is no address such as " + example);
        }
        try {
            token.ifPresent(secret -> request.header("Authorization", "Bearer " + secret.value()));
        } catch (IllegalArgumentException e) {
            throw CommandException.usage("PURI_TOKEN: it has characters that no header can have");
        }
        return request;
    }

    /** Reads a body only when it is asked for. */
    private interface Body {
        String text();
    }

    private void requireSuccess(HttpRequest request, int status, Body body) {
        if (status / 100 != 2) {
            String said = "the " + server + " at " + withoutQuery(request.uri()) + " answered " + status + ": "
                    + problem(body.text());
            throw switch (status) {
                case 400 -> CommandException.usage(said);
                case 401 -> CommandException.failed(said + " Set PURI_TOKEN, or PURI_TOKEN_FILE.", null);
                default -> CommandException.failed(said, null);
            };
        }
    }

    /** The title and detail of an RFC 9457 problem, or the text itself. */
    private static String problem(String body) {
        try {
            JsonNode problem = Json.parse(body);
            String title = problem.path("title").asText();
            String detail = problem.path("detail").asText();
            return title.isEmpty() && detail.isEmpty() ? body : (title + ". " + detail).strip();
        } catch (UncheckedIOException e) {
            return body;
        }
    }

    private JsonNode parsed(String answer) {
        try {
            return Json.parse(answer);
        } catch (UncheckedIOException e) {
            throw CommandException.failed("what answers is no " + server + "; name one with " + option, e);
        }
    }

    private CommandException outOfReach(HttpRequest request, Throwable e) {
        if (e instanceof TimeoutException
                || (e instanceof HttpTimeoutException && !(e instanceof HttpConnectTimeoutException))) {
            return CommandException.failed(
                    "the " + server + " at " + withoutQuery(request.uri()) + " listens but did not answer within "
                            + TIMEOUT.toSeconds() + " s; it is overloaded or stuck: try again",
                    e);
        }
        return CommandException.failed(
                "no " + server + " answers at " + withoutQuery(request.uri()) + " (" + e
                        + "); start one with puri up, or name one with " + option,
                e);
    }

    private static String withoutQuery(URI uri) {
        return uri.toString().replaceFirst("\\?.*", "");
    }
}
