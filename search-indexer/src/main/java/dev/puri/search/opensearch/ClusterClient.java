package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.puri.http.Secret;
import dev.puri.search.index.IndexUnavailableException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An OpenSearch cluster, asked over HTTP. Every request may be sent twice without harm, so each that a node
 * does not answer, or is too busy for, is tried again, at the next node. Thread-safe.
 */
final class ClusterClient implements AutoCloseable {
    static final ObjectMapper JSON = new ObjectMapper();

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
    /** A reader would rather hear soon that there is nothing to be had. */
    private static final int READ_TRIES = 3;

    /** So is an index's creation answered when the answer to the first try was lost. */
    private static final String EXISTS = "resource_already_exists_exception";

    private static final int MAX_REASON_CHARACTERS = 300;

    private static final Logger LOG = LoggerFactory.getLogger(ClusterClient.class);

    private final HttpClient client;
    private final List<String> nodes;
    private final Optional<String> authorization;
    private final Duration readTimeout;
    private final Duration writeTimeout;
    private final AtomicInteger turn = new AtomicInteger();

    /** Whether it was said that nobody answers. */
    private final AtomicBoolean isAway = new AtomicBoolean();

    /**
     * @throws IllegalArgumentException when the file of authorities cannot be used
     */
    ClusterClient(OpenSearchSettings settings) {
        nodes = settings.opensearchUrl().stream()
                .map(url -> url.endsWith("/") ? url.substring(0, url.length() - 1) : url)
                .toList();
        authorization = settings.opensearchAuthorization().map(Secret::value).or(() -> basic(settings));
        readTimeout = settings.opensearchTimeout();
        writeTimeout = settings.opensearchWriteTimeout();
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(CONNECT_TIMEOUT);
        settings.opensearchCa().ifPresent(file -> builder.sslContext(trusting(file)));
        client = builder.build();
    }

    /**
     * What the cluster said.
     *
     * @param status 200 to 299, or 404
     */
    record Answer(int status, JsonNode body) {
        boolean found() {
            return status != 404;
        }
    }

    /** Asks for what readers wait for. */
    Answer read(String method, String path, @Nullable JsonNode body) throws IndexUnavailableException {
        return ask(method, path, body == null ? new byte[0] : bytes(body), new RetryState(readTimeout, READ_TRIES));
    }

    /** Asks for a change, for as long as a batch may take. */
    Answer write(String method, String path, @Nullable JsonNode body) throws IndexUnavailableException {
        return ask(method, path, body == null ? new byte[0] : bytes(body), patience());
    }

    /** As long as a batch may take, all tries together. */
    RetryState patience() {
        return new RetryState(writeTimeout, Integer.MAX_VALUE);
    }

    /**
     * Asks until there is an answer.
     *
     * @param body JSON, a line or many, or nothing
     * @throws IndexUnavailableException when there is none in time, or the cluster refuses for a reason of its own
     * @throws IllegalStateException when the request is one that the cluster does not understand
     */
    Answer ask(String method, String path, byte[] body, RetryState patience) throws IndexUnavailableException {
        while (true) {
            String node = nodes.get(Math.floorMod(turn.get(), nodes.size()));
            try {
                HttpResponse<byte[]> response = send(request(node, method, path, body), patience.left());
                if (isAway.compareAndSet(true, false)) {
                    LOG.info("OpenSearch answers at {}", node);
                }
                int status = response.statusCode();
                if (status < 300 || status == 404) {
                    return new Answer(status, json(response));
                }
                if (status == 400 && type(response).equals(EXISTS)) {
                    return new Answer(200, MissingNode.getInstance());
                }
                String said =
                        method + " " + path + " is answered with " + status + " by OpenSearch: " + reason(response);
                if (status == 400 || status == 405) {
                    throw new IllegalStateException(said);
                }
                if (!isPassing(status)) {
                    throw new IndexUnavailableException(said, new IOException("status " + status));
                }
                turn.incrementAndGet();
                patience.pause(() -> said);
            } catch (IOException | TimeoutException e) {
                turn.incrementAndGet();
                if (isAway.compareAndSet(false, true)) {
                    LOG.warn("OpenSearch does not answer at {} and is asked again: {}", node, e.toString());
                }
                patience.pause(() -> "OpenSearch does not answer at " + node + ": " + e, e);
            }
        }
    }

    /** Whether the same may be taken later: too many requests, or a cluster that is not whole. */
    static boolean isPassing(int status) {
        return status == 429 || status >= 500;
    }

    private HttpRequest request(String node, String method, String path, byte[] body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(node + path));
        authorization.ifPresent(value -> request.header("Authorization", value));
        if (body.length == 0) {
            return request.method(method, HttpRequest.BodyPublishers.noBody()).build();
        }
        // OpenSearch wants this type of bulk requests and takes it for others.
        return request.header(
                        "Content-Type", body[body.length - 1] == '\n' ? "application/x-ndjson" : "application/json")
                .method(method, HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
    }

    /** {@link HttpRequest}'s own timeout ends with the answer's headers; this one with its last byte. */
    private HttpResponse<byte[]> send(HttpRequest request, Duration within)
            throws IOException, TimeoutException, IndexUnavailableException {
        CompletableFuture<HttpResponse<byte[]>> answer =
                client.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray());
        try {
            return answer.get(within.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        } catch (InterruptedException e) {
            throw RetryState.interrupted(e);
        } finally {
            answer.cancel(true);
        }
    }

    private static JsonNode json(HttpResponse<byte[]> response) throws IOException {
        return response.body().length == 0 ? MissingNode.getInstance() : JSON.readTree(response.body());
    }

    private static String type(HttpResponse<byte[]> response) throws IOException {
        return json(response).path("error").path("type").asText();
    }

    private static String reason(HttpResponse<byte[]> response) {
        String text;
        try {
            JsonNode error = json(response).path("error");
            text = error.path("type").asText() + ", " + error.path("reason").asText();
        } catch (IOException e) {
            text = new String(response.body(), StandardCharsets.UTF_8);
        }
        return text.length() <= MAX_REASON_CHARACTERS ? text : text.substring(0, MAX_REASON_CHARACTERS) + "…";
    }

    static byte[] bytes(JsonNode json) {
        try {
            return JSON.writeValueAsBytes(json);
        } catch (IOException e) {
            throw new IllegalStateException("JSON in memory is written without I/O", e);
        }
    }

    /** RFC 7617. */
    private static Optional<String> basic(OpenSearchSettings settings) {
        return settings.opensearchUser()
                .flatMap(user -> settings.opensearchPassword()
                        .map(password -> "Basic "
                                + Base64.getEncoder()
                                        .encodeToString(
                                                (user + ':' + password.value()).getBytes(StandardCharsets.UTF_8))));
    }

    private static SSLContext trusting(Path authorities) {
        try (InputStream pem = Files.newInputStream(authorities)) {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
                store.setCertificateEntry(Integer.toString(store.size()), each);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "PURI_OPENSEARCH_CA: the file " + authorities + " is no PEM of certificates: " + e, e);
        }
    }

    @Override
    public void close() {
        client.shutdownNow();
    }
}
