package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.settings.Secret;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An HTTP client of an OpenSearch cluster. If a node does not answer or is too busy, the client retries the request at
 * the next node. A request may therefore reach the cluster more than once, so all requests must be idempotent.
 * Thread-safe.
 */
final class ClusterClient implements AutoCloseable {
    static final ObjectMapper JSON = new ObjectMapper();

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);

    /** Maximum number of attempts with the read timeout. A user who waits prefers a quick failure. */
    private static final int MAX_READ_ATTEMPTS = 3;

    /** The error of OpenSearch if the index exists. A retry gets this error if the first response was lost. */
    private static final String INDEX_EXISTS = "resource_already_exists_exception";

    private static final int MAX_REASON_CHARACTERS = 300;

    private static final Logger LOG = LoggerFactory.getLogger(ClusterClient.class);

    private final HttpClient client;
    private final List<String> nodes;
    private final Optional<String> authorization;
    private final Duration readTimeout;
    private final Duration writeTimeout;

    /** The number of the node that gets the next request, modulo the number of nodes. */
    private final AtomicInteger nodeIndex = new AtomicInteger();

    /** The nodes whose last attempt got no response. The client logs only changes of this set. */
    private final Set<String> unreachableNodes = ConcurrentHashMap.newKeySet();

    /**
     * Creates a client. The constructor sends no request.
     *
     * @throws IllegalArgumentException if the CA file cannot be read
     */
    ClusterClient(OpenSearchSettings settings) {
        nodes = settings.opensearchUrl().stream()
                .map(url -> url.endsWith("/") ? url.substring(0, url.length() - 1) : url)
                .toList();
        authorization = settings.opensearchAuthorization().map(Secret::value).or(() -> basicAuthorization(settings));
        readTimeout = settings.opensearchTimeout();
        writeTimeout = settings.opensearchWriteTimeout();
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(CONNECT_TIMEOUT);
        settings.opensearchCa().ifPresent(file -> builder.sslContext(sslContext(file)));
        client = builder.build();
    }

    /**
     * A response of OpenSearch.
     *
     * @param status the HTTP status, 200 to 299 or 404
     */
    record Response(int status, JsonNode body) {
        boolean isFound() {
            return status != 404;
        }
    }

    /** Sends a request with the timeout of a search, for a user who waits. */
    Response sendWithReadTimeout(String method, String path, @Nullable JsonNode body) throws IndexUnavailableException {
        return send(
                method, path, body == null ? new byte[0] : bytes(body), new RetryState(readTimeout, MAX_READ_ATTEMPTS));
    }

    /** Sends a request with the timeout of a batch, for the writer. */
    Response sendWithWriteTimeout(String method, String path, @Nullable JsonNode body)
            throws IndexUnavailableException {
        return send(method, path, body == null ? new byte[0] : bytes(body), newWriteRetryState());
    }

    /** Returns a new retry state with the timeout of a batch. */
    RetryState newWriteRetryState() {
        return new RetryState(writeTimeout, Integer.MAX_VALUE);
    }

    /**
     * Sends a request. Retries until a node responds, or until no retry is left.
     *
     * @param body a JSON value, newline-delimited JSON that ends with a newline, or empty
     * @throws IndexUnavailableException if no node responds in time, or if the cluster refuses the request
     * @throws IllegalStateException if the request is invalid, which is a bug of this server
     */
    Response send(String method, String path, byte[] body, RetryState retries) throws IndexUnavailableException {
        while (true) {
            int index = nodeIndex.get();
            String node = nodes.get(Math.floorMod(index, nodes.size()));
            try {
                HttpResponse<byte[]> response =
                        exchange(request(node, method, path, body), retries.attemptTime(nodes.size()));
                if (unreachableNodes.remove(node)) {
                    LOG.info("The OpenSearch node {} responds again", node);
                }
                int status = response.statusCode();
                JsonNode answer = json(response);
                if (answer == null) {
                    selectNextNode(index);
                    if (!isRetryable(status)) {
                        throw new IndexUnavailableException(
                                node + " answers with status " + status + ", but not with JSON: " + start(response));
                    }
                    answer = MissingNode.getInstance();
                }
                if (status < 300 || status == 404) {
                    return new Response(status, answer);
                }
                JsonNode error = answer.path("error");
                if (status == 400 && error.path("type").asText().equals(INDEX_EXISTS)) {
                    return new Response(200, MissingNode.getInstance());
                }
                String failure = "OpenSearch answered " + method + " " + path + " with status " + status + ": "
                        + (error.isObject() ? reason(error) : start(response));
                if (status == 400 || status == 405) {
                    throw new IllegalStateException(failure);
                }
                if (!isRetryable(status)) {
                    throw new IndexUnavailableException(failure);
                }
                selectNextNode(index);
                retries.backOff(() -> failure);
            } catch (IOException | TimeoutException e) {
                selectNextNode(index);
                if (unreachableNodes.add(node)) {
                    LOG.warn("The OpenSearch node {} does not answer: {}", node, e.toString());
                }
                retries.backOff(() -> "the OpenSearch node " + node + " does not answer: " + e, e);
            }
        }
    }

    /** Requests that fail at the same node at the same time must not skip the next node. */
    private void selectNextNode(int failedIndex) {
        nodeIndex.compareAndSet(failedIndex, failedIndex + 1);
    }

    /** Returns whether a status reports that the cluster is too busy or a shard is not available. */
    static boolean isRetryable(int status) {
        return status == 429 || status >= 500;
    }

    private HttpRequest request(String node, String method, String path, byte[] body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(node + path));
        authorization.ifPresent(value -> request.header("Authorization", value));
        if (body.length == 0) {
            return request.method(method, HttpRequest.BodyPublishers.noBody()).build();
        }
        // OpenSearch requires the content type application/x-ndjson for bulk requests.
        return request.header(
                        "Content-Type", body[body.length - 1] == '\n' ? "application/x-ndjson" : "application/json")
                .method(method, HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
    }

    /** Sends a request and waits for the whole response. The timeout of {@link HttpRequest} covers the headers only. */
    private HttpResponse<byte[]> exchange(HttpRequest request, Duration timeout)
            throws IOException, TimeoutException, IndexUnavailableException {
        CompletableFuture<HttpResponse<byte[]>> response =
                client.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray());
        try {
            return response.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        } catch (InterruptedException e) {
            throw RetryState.interrupted(e);
        } finally {
            response.cancel(true);
        }
    }

    /** Returns the body; null if it is not JSON, because the URL may be that of a proxy or another server. */
    private static @Nullable JsonNode json(HttpResponse<byte[]> response) {
        if (response.body().length == 0) {
            return MissingNode.getInstance();
        }
        try {
            JsonNode body = JSON.readTree(response.body());
            // The parser reads the first value only: of "404 page not found" it would return the number.
            return body.isContainerNode() ? body : null;
        } catch (IOException e) {
            return null;
        }
    }

    private static String reason(JsonNode error) {
        return shorten(error.path("type").asText() + ", " + error.path("reason").asText());
    }

    private static String start(HttpResponse<byte[]> response) {
        return shorten(new String(response.body(), StandardCharsets.UTF_8));
    }

    private static String shorten(String text) {
        return text.length() <= MAX_REASON_CHARACTERS ? text : text.substring(0, MAX_REASON_CHARACTERS) + "…";
    }

    static byte[] bytes(JsonNode json) {
        try {
            return JSON.writeValueAsBytes(json);
        } catch (IOException e) {
            throw new IllegalStateException("cannot write JSON to memory", e);
        }
    }

    /** Returns the value of the Authorization header for basic authentication (RFC 7617). */
    private static Optional<String> basicAuthorization(OpenSearchSettings settings) {
        return settings.opensearchUser()
                .flatMap(user -> settings.opensearchPassword()
                        .map(password -> "Basic "
                                + Base64.getEncoder()
                                        .encodeToString(
                                                (user + ':' + password.value()).getBytes(StandardCharsets.UTF_8))));
    }

    private static SSLContext sslContext(Path caFile) {
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (Certificate certificate : OpenSearchSettings.certificates(caFile)) {
                store.setCertificateEntry(Integer.toString(store.size()), certificate);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "PURI_OPENSEARCH_CA: cannot use the certificates in " + caFile + ": " + e, e);
        }
    }

    @Override
    public void close() {
        client.shutdownNow();
    }
}
