package dev.puri.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.cli.io.FileErrors;
import dev.puri.cli.io.TimedInputStream;
import dev.puri.settings.Secret;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * A client of the HTTP API of the resolver or of the search indexer. Failures become {@link CommandException}s with
 * messages for the user.
 *
 * @param console receives messages while a request waits for the server to become ready
 * @param server the kind of server, for messages
 * @param option the command-line option that sets the server's address
 * @param example an example of a valid address, for messages
 * @param base the server's address
 * @param token the bearer token that is sent with each request
 */
record ApiClient(Console console, String server, String option, String example, URI base, Optional<Secret> token) {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(30);

    /** The maximum time without a byte of a response that is read line by line. */
    private static final Duration BODY_TIMEOUT = Duration.ofSeconds(60);

    /** The time during which a request is repeated while the server responds 503. */
    private static final Duration READY_TIMEOUT = Duration.ofSeconds(60);

    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);
    private static final int UNAVAILABLE = 503;

    /**
     * A response, or a line of one.
     *
     * @param json the text, parsed
     */
    record Response(HttpHeaders headers, String text, JsonNode json) {}

    static ApiClient ofResolver(Console console, CliSettings settings) {
        return new ApiClient(
                console, "resolver", "--resolver", CliSettings.DEFAULT_RESOLVER, settings.resolver(), settings.token());
    }

    static ApiClient ofIndexer(Console console, CliSettings settings) {
        return new ApiClient(
                console, "search indexer", "--search", CliSettings.DEFAULT_SEARCH, settings.search(), settings.token());
    }

    Response get(String path) throws InterruptedException {
        return get(path, RESPONSE_TIMEOUT);
    }

    /**
     * @param timeout maximum time until the whole response is received
     */
    Response get(String path, Duration timeout) throws InterruptedException {
        return send(request(path).build(), timeout);
    }

    Response post(String path, String json) throws InterruptedException {
        return send(request(path).header("Content-Type", "application/json").POST(BodyPublishers.ofString(json)));
    }

    /** Sends a POST request without a body. */
    Response post(String path) throws InterruptedException {
        return send(request(path).POST(BodyPublishers.noBody()));
    }

    Response delete(String path) throws InterruptedException {
        return send(request(path).DELETE());
    }

    private Response send(HttpRequest.Builder builder) throws InterruptedException {
        return send(builder.build(), RESPONSE_TIMEOUT);
    }

    private Response send(HttpRequest request, Duration timeout) throws InterruptedException {
        try (HttpClient client = client()) {
            HttpResponse<String> response = sendWhenReady(client, request, timeout);
            if (!isSuccess(response)) {
                throw failure(request, response.statusCode(), response.body());
            }
            return new Response(response.headers(), response.body(), parsed(response.body()));
        }
    }

    /** Repeats a request while the server responds 503, because it is starting, restoring its table or overloaded. */
    private HttpResponse<String> sendWhenReady(HttpClient client, HttpRequest request, Duration timeout)
            throws InterruptedException {
        long startNanos = System.nanoTime();
        String lastReason = "";
        while (true) {
            HttpResponse<String> response = await(client, request, BodyHandlers.ofString(), timeout);
            if (response.statusCode() != UNAVAILABLE || System.nanoTime() - startNanos > READY_TIMEOUT.toNanos()) {
                return response;
            }
            String reason = problem(response.body());
            if (!reason.equals(lastReason)) {
                console.say("puri: waiting for the " + server + " at " + withoutQuery(request.uri()) + ": " + reason);
                lastReason = reason;
            }
            Thread.sleep(RETRY_DELAY);
        }
    }

    /**
     * Sends a GET request and reads lines of JSON until the response ends. While the server has nothing to send, it
     * sends a blank line every 10 s, so a longer silence means that the connection is lost.
     *
     * @param listener called with each line
     */
    void getLines(String path, Consumer<Response> listener) throws InterruptedException {
        getLines(path, BODY_TIMEOUT, listener);
    }

    /**
     * @param timeout maximum time without a byte of the body
     */
    void getLines(String path, Duration timeout, Consumer<Response> listener) throws InterruptedException {
        HttpRequest request = request(path).build();
        try (HttpClient client = client()) {
            HttpResponse<InputStream> response = await(client, request, BodyHandlers.ofInputStream(), RESPONSE_TIMEOUT);
            try (BufferedReader body = new BufferedReader(
                    new InputStreamReader(new TimedInputStream(response.body(), timeout), StandardCharsets.UTF_8))) {
                if (!isSuccess(response)) {
                    throw failure(request, response.statusCode(), body.readAllAsString());
                }
                // Not body.lines(): an UncheckedIOException of the listener would look like one of the connection.
                for (String line = body.readLine(); line != null; line = body.readLine()) {
                    if (!line.isBlank()) {
                        listener.accept(new Response(response.headers(), line, parsed(line)));
                    }
                }
            } catch (IOException e) {
                throw lost(request, e);
            } finally {
                // Otherwise close() would wait for a server that no longer sends.
                client.shutdownNow();
            }
        }
    }

    /**
     * Waits for a response as far as its handler reads it. The request has no time-out of its own: up to Java 25 it
     * ends with the headers, and from Java 26 on it covers the whole response, also one that is read line by line.
     */
    private <T> HttpResponse<T> await(HttpClient client, HttpRequest request, BodyHandler<T> handler, Duration timeout)
            throws InterruptedException {
        CompletableFuture<HttpResponse<T>> response = client.sendAsync(request, handler);
        try {
            return response.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw CommandException.failed(
                    "the " + server + " at " + withoutQuery(request.uri()) + " listens but did not answer within "
                            + timeout.toSeconds() + " s; it is overloaded or stuck: try again",
                    e);
        } catch (ExecutionException e) {
            throw unreachable(request, e.getCause() == null ? e : e.getCause());
        } finally {
            // Otherwise HttpClient.close would wait until the request is complete.
            response.cancel(true);
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
            throw CommandException.usage(option + ": " + uri + " is not a valid address; example: " + example, e);
        }
        try {
            token.ifPresent(secret -> request.header("Authorization", "Bearer " + secret.value()));
        } catch (IllegalArgumentException e) {
            throw CommandException.usage(
                    "PURI_TOKEN: the token contains characters that are not allowed in an HTTP header", e);
        }
        return request;
    }

    private static boolean isSuccess(HttpResponse<?> response) {
        return response.statusCode() / 100 == 2;
    }

    private CommandException failure(HttpRequest request, int status, String body) {
        String message =
                "the " + server + " at " + withoutQuery(request.uri()) + " answered " + status + ": " + problem(body);
        return switch (status) {
            case 400 -> CommandException.usage(message);
            case 401 -> CommandException.failed(message + " Set PURI_TOKEN, or PURI_TOKEN_FILE.");
            default -> CommandException.failed(message);
        };
    }

    /** Returns title and detail of an RFC 9457 problem, or else the text itself. */
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

    private JsonNode parsed(String body) {
        try {
            return Json.parse(body);
        } catch (UncheckedIOException e) {
            throw CommandException.failed(
                    "the response from " + base + " is not that of a " + server + "; set the address of a " + server
                            + " with " + option,
                    e);
        }
    }

    private CommandException unreachable(HttpRequest request, Throwable e) {
        return CommandException.failed(
                "no " + server + " answers at " + withoutQuery(request.uri()) + " (" + e
                        + "); start one with puri up, or set its address with " + option,
                e);
    }

    private CommandException lost(HttpRequest request, IOException e) {
        return CommandException.failed(
                "the connection to the " + server + " at " + withoutQuery(request.uri())
                        + " was lost before its response ended: " + FileErrors.reason(e),
                e);
    }

    private static String withoutQuery(URI uri) {
        return uri.toString().replaceFirst("\\?.*", "");
    }
}
