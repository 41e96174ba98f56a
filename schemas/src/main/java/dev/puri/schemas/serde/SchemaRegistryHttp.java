package dev.puri.schemas.serde;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.serde.SchemaRegistrySettings.Endpoint;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Sends HTTP requests to the schema registry, with retries. A round tries one endpoint after the other, beginning with
 * the endpoint that last responded. After a round without a response the class waits and starts another round, up to
 * the maximum number of rounds. I/O errors, 429 and 5xx count as no response; every other response is returned.
 *
 * <p>Redirects are not followed, because the client would send the credentials to the new address.
 */
final class SchemaRegistryHttp implements AutoCloseable {
    private static final String CONTENT_TYPE = "application/vnd.schemaregistry.v1+json";
    private static final int MAX_REASON_LENGTH = 500;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final SchemaRegistrySettings settings;
    private final HttpClient client;
    /** The index of the endpoint that responded last. */
    private volatile int respondingEndpoint;

    /**
     * A complete response of an endpoint.
     *
     * @param body the JSON of the response; an empty object if the response is neither a JSON object nor an array
     * @param from the endpoint that responded
     */
    record Response(int status, JsonNode body, Endpoint from) {
        boolean isSuccess() {
            return status / 100 == 2;
        }

        /** Confluent's error code, e.g. 40403; 0 if the response has none. */
        int errorCode() {
            return body.path("error_code").asInt(0);
        }

        String reason() {
            return "answered " + status
                    + printable(body.path("message").asText("").strip());
        }

        private static String printable(String message) {
            if (message.isEmpty()) {
                return "";
            }
            String line = message.replaceAll("\\p{Cntrl}+", " ");
            return ": " + (line.length() <= MAX_REASON_LENGTH ? line : line.substring(0, MAX_REASON_LENGTH) + "…");
        }
    }

    SchemaRegistryHttp(SchemaRegistrySettings settings) {
        this.settings = settings;
        this.client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(atLeastOneMilli(settings.connectTimeout()))
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
    }

    /**
     * Sends a request.
     *
     * @param path path that begins with a slash
     * @param body JSON body; null for no body
     * @param what name of the requested object for messages, e.g. {@code subject a-value}
     * @throws SchemaRegistryUnavailableException if no endpoint responded in any round
     */
    Response send(String method, String path, @Nullable JsonNode body, String what) {
        SchemaRegistryUnavailableException failure = null;
        for (int round = 0; round <= settings.maxRetries(); round++) {
            if (round > 0) {
                pause(round);
            }
            List<Endpoint> endpoints = settings.endpoints();
            int first = respondingEndpoint;
            for (int i = 0; i < endpoints.size(); i++) {
                int index = (first + i) % endpoints.size();
                Endpoint endpoint = endpoints.get(index);
                try {
                    Response response = exchange(method, endpoint, path, body);
                    if (response.status() != 429 && response.status() < 500) {
                        respondingEndpoint = index;
                        return response;
                    }
                    failure = unavailable(endpoint, response.reason(), null);
                } catch (IOException e) {
                    failure = unavailable(endpoint, e.toString(), e);
                }
            }
        }
        throw new SchemaRegistryUnavailableException(
                "the schema registry at " + urls() + " did not serve " + what + " in "
                        + (settings.maxRetries() + 1) + " rounds; last failure: "
                        + (failure == null ? "" : failure.getMessage()),
                failure == null ? null : failure.getCause());
    }

    /** Returns the URLs of the endpoints, without credentials, for messages. */
    String urls() {
        return String.join(
                ", ", settings.endpoints().stream().map(Endpoint::base).toList());
    }

    private static SchemaRegistryUnavailableException unavailable(
            Endpoint endpoint, String reason, @Nullable IOException cause) {
        return new SchemaRegistryUnavailableException(endpoint + " " + reason, cause);
    }

    private Response exchange(String method, Endpoint endpoint, String path, @Nullable JsonNode body)
            throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(endpoint.base() + path))
                .timeout(atLeastOneMilli(settings.connectTimeout().plus(settings.readTimeout())))
                .header("Accept", CONTENT_TYPE + ", application/json")
                .method(
                        method,
                        body == null
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString(body.toString()));
        if (body != null) {
            request.header("Content-Type", CONTENT_TYPE);
        }
        if (endpoint.authorization() != null) {
            request.header("Authorization", endpoint.authorization());
        }
        HttpResponse<String> httpResponse =
                await(client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString()));
        return new Response(httpResponse.statusCode(), json(httpResponse.body()), endpoint);
    }

    /**
     * Waits for a response. The time-out includes the body; before Java 26, HttpRequest's time-out ends with the
     * headers.
     */
    private HttpResponse<String> await(CompletableFuture<HttpResponse<String>> responseFuture) throws IOException {
        Duration timeout = settings.connectTimeout().plus(settings.readTimeout());
        try {
            return responseFuture.get(timeout.toMillis() + 100, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            responseFuture.cancel(true);
            throw new IOException("no complete response within " + timeout.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException io) {
                throw io;
            }
            throw new IOException(e.getCause());
        } catch (InterruptedException e) {
            responseFuture.cancel(true);
            throw new InterruptException(e);
        }
    }

    private static JsonNode json(String text) {
        try {
            JsonNode node = JSON.readTree(text);
            return node.isContainerNode() ? node : JSON.createObjectNode();
        } catch (JacksonException e) {
            return JSON.createObjectNode();
        }
    }

    /** Waits before a retry: exponential back-off, with jitter so that many clients do not retry at the same time. */
    private void pause(int round) {
        long doubledMillis = settings.retryWait().toMillis() << Math.min(round - 1, 20);
        long waitMillis = Math.min(doubledMillis, settings.maxRetryWait().toMillis());
        try {
            Thread.sleep(waitMillis / 2 + ThreadLocalRandom.current().nextLong(waitMillis - waitMillis / 2 + 1));
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    private static Duration atLeastOneMilli(Duration duration) {
        return duration.isZero() ? Duration.ofMillis(1) : duration;
    }

    /** Closes the HTTP client. On Java 17 the client has no close(), and the garbage collector ends its thread. */
    @Override
    public void close() {
        if (client instanceof AutoCloseable closeable) {
            try {
                closeable.close();
            } catch (Exception e) {
                throw new IllegalStateException("the HTTP client could not be closed", e);
            }
        }
    }
}
