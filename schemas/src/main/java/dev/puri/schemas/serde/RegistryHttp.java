package dev.puri.schemas.serde;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.serde.RegistrySettings.Endpoint;
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
 * One request to the schema registry, carried through: a round asks the endpoints in turn, beginning
 * with the one that answered last; a round without an answer is followed by a wait and another, up to
 * the bound. Retried are I/O errors, 429 and 5xx; every other answer is the registry's word.
 *
 * <p>Redirects are not followed, for the credentials would go with them.
 */
final class RegistryHttp implements AutoCloseable {
    private static final String CONTENT_TYPE = "application/vnd.schemaregistry.v1+json";
    private static final int MAX_REASON_LENGTH = 500;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final RegistrySettings settings;
    private final HttpClient client;
    private volatile int preferred;

    /**
     * An answer that is not to be retried.
     *
     * @param body the JSON; an empty object when it is none
     * @param from who answered
     */
    record Answer(int status, JsonNode body, Endpoint from) {
        boolean ok() {
            return status / 100 == 2;
        }

        /** Confluent's code, e.g. 40403; 0 when there is none. */
        int errorCode() {
            return body.path("error_code").asInt(0);
        }

        String reason() {
            return "answered " + status
                    + shortened(body.path("message").asText("").strip());
        }

        private static String shortened(String message) {
            if (message.isEmpty()) {
                return "";
            }
            String printable = message.replaceAll("\\p{Cntrl}+", " ");
            return ": "
                    + (printable.length() <= MAX_REASON_LENGTH
                            ? printable
                            : printable.substring(0, MAX_REASON_LENGTH) + "…");
        }
    }

    RegistryHttp(RegistrySettings settings) {
        this.settings = settings;
        this.client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(atLeastOneMilli(settings.connectTimeout()))
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
    }

    /**
     * @param path begins with a slash
     * @param body JSON; null for none
     * @param what the request is about, for messages, e.g. {@code subject a-value}
     * @throws RegistryUnavailableException when no endpoint gave an answer within the bound
     */
    Answer send(String method, String path, @Nullable JsonNode body, String what) {
        RegistryUnavailableException failure = null;
        for (int round = 0; round <= settings.maxRetries(); round++) {
            if (round > 0) {
                pause(round);
            }
            List<Endpoint> endpoints = settings.endpoints();
            int first = preferred;
            for (int i = 0; i < endpoints.size(); i++) {
                int index = (first + i) % endpoints.size();
                Endpoint endpoint = endpoints.get(index);
                try {
                    Answer answer = exchange(method, endpoint, path, body);
                    if (answer.status() != 429 && answer.status() < 500) {
                        preferred = index;
                        return answer;
                    }
                    failure = unavailable(endpoint, answer.reason(), null);
                } catch (IOException e) {
                    failure = unavailable(endpoint, e.toString(), e);
                }
            }
        }
        throw new RegistryUnavailableException(
                "the schema registry gave no answer for " + what + " at " + urls() + " in "
                        + (settings.maxRetries() + 1) + " rounds; last, "
                        + (failure == null ? "" : failure.getMessage()),
                failure == null ? null : failure.getCause());
    }

    /** The endpoints, for messages; without credentials. */
    String urls() {
        return String.join(
                ", ", settings.endpoints().stream().map(Endpoint::base).toList());
    }

    private static RegistryUnavailableException unavailable(
            Endpoint endpoint, String reason, @Nullable IOException cause) {
        return new RegistryUnavailableException(endpoint + " " + reason, cause);
    }

    private Answer exchange(String method, Endpoint endpoint, String path, @Nullable JsonNode body) throws IOException {
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
        HttpResponse<String> response = await(client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString()));
        return new Answer(response.statusCode(), json(response.body()), endpoint);
    }

    /** Bounds the body too, which the request's own timeout does not: it ends with the headers. */
    private HttpResponse<String> await(CompletableFuture<HttpResponse<String>> pending) throws IOException {
        Duration bound = settings.connectTimeout().plus(settings.readTimeout());
        try {
            return pending.get(bound.toMillis() + 100, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            pending.cancel(true);
            throw new IOException("no whole answer within " + bound.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException io) {
                throw io;
            }
            throw new IOException(e.getCause());
        } catch (InterruptedException e) {
            pending.cancel(true);
            throw new InterruptException(e);
        }
    }

    private static JsonNode json(String text) {
        try {
            JsonNode node = JSON.readTree(text);
            return node.isObject() ? node : JSON.createObjectNode();
        } catch (JacksonException e) {
            return JSON.createObjectNode();
        }
    }

    /** Half of the doubled wait and up to as much again, so that many clients do not come back at once. */
    private void pause(int round) {
        long most = settings.maxRetryWait().toMillis();
        long doubled = settings.retryWait().toMillis() << Math.min(round - 1, 20);
        long wait = Math.min(doubled, most);
        try {
            Thread.sleep(wait / 2 + ThreadLocalRandom.current().nextLong(wait - wait / 2 + 1));
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    private static Duration atLeastOneMilli(Duration duration) {
        return duration.isZero() ? Duration.ofMillis(1) : duration;
    }

    /** Frees the client's thread; on Java 17, whose client cannot be closed, the garbage collector does. */
    @Override
    public void close() {
        if (client instanceof AutoCloseable closeable) {
            try {
                closeable.close();
            } catch (Exception e) {
                throw new IllegalStateException("an HTTP client does not close", e);
            }
        }
    }
}
