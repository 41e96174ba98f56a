package dev.puri.cli.verify;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.cli.io.ByteLines;
import dev.puri.cli.io.Digests;
import dev.puri.cli.io.RateLimiter;
import dev.puri.cli.io.TimedInputStream;
import dev.puri.resolver.live.ChangeId;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The rows of a resolver, from {@code GET /v1/export}. */
public final class ResolverExport implements RowCopy {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Duration RETRY_INTERVAL = Duration.ofSeconds(1);
    private static final int UNAVAILABLE = 503;
    private static final int MAX_PROBLEM_BYTES = 10_000;
    private static final int ROWS_PER_BATCH = 1000;

    /**
     * The time during which the limiter limits the reading of an export; the rest is read at full speed. A resolver
     * aborts an export after two hours, and with a low limit a large export would take longer.
     */
    private static final Duration MAX_PACED_TIME = Duration.ofHours(1);

    private final URI url;
    private final @Nullable String token;
    private final RateLimiter limiter;
    private final Duration timeout;
    private final Duration retryInterval;
    private final Duration maxPacedTime;

    /**
     * @param url base URL of the resolver's internal listener
     * @param token bearer token; null for none
     */
    public ResolverExport(URI url, @Nullable String token, RateLimiter limiter) {
        this(url, token, limiter, TIMEOUT, RETRY_INTERVAL, MAX_PACED_TIME);
    }

    /**
     * @param timeout maximum time until the response begins, maximum time without a byte of it, and maximum time during
     *     which a request is repeated while the resolver answers 503
     * @param retryInterval the time between two requests while the resolver answers 503
     * @param maxPacedTime the time for which the limiter limits the reading of an export
     */
    ResolverExport(
            URI url,
            @Nullable String token,
            RateLimiter limiter,
            Duration timeout,
            Duration retryInterval,
            Duration maxPacedTime) {
        this.url = url;
        this.token = token;
        this.limiter = limiter;
        this.timeout = timeout;
        this.retryInterval = retryInterval;
        this.maxPacedTime = maxPacedTime;
    }

    @Override
    public String part() {
        return "resolver";
    }

    @Override
    public String name() {
        return url.toString();
    }

    @Override
    public boolean isLive() {
        return true;
    }

    @Override
    public Scan open() throws IOException {
        HttpRequest request = request();
        HttpClient client =
                HttpClient.newBuilder().connectTimeout(CONNECT_TIMEOUT).build();
        boolean isOpen = false;
        try {
            Download download = new Download(client, requestWhenReady(client, request));
            isOpen = true;
            return download;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VerifyException("interrupted", e);
        } finally {
            if (!isOpen) {
                client.shutdownNow();
            }
        }
    }

    private HttpRequest request() {
        try {
            HttpRequest.Builder request = HttpRequest.newBuilder(
                    URI.create(url.toString().replaceFirst("/+$", "") + "/v1/export?format=ndjson"));
            if (token != null) {
                request.header("Authorization", "Bearer " + token);
            }
            return request.build();
        } catch (IllegalArgumentException e) {
            throw new VerifyException("no request can be sent to " + url + ": " + e.getMessage(), e);
        }
    }

    /** Sends the request, and repeats it while the resolver answers 503. */
    private InputStream requestWhenReady(HttpClient client, HttpRequest request)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (true) {
            HttpResponse<InputStream> response = send(client, request);
            InputStream body = new TimedInputStream(response.body(), timeout);
            if (response.statusCode() == 200) {
                return body;
            }
            String problem;
            try (body) {
                problem = new String(body.readNBytes(MAX_PROBLEM_BYTES), StandardCharsets.UTF_8);
            }
            if (response.statusCode() != UNAVAILABLE || System.nanoTime() - deadline > 0) {
                throw new VerifyException("the resolver answered " + response.statusCode() + ": " + problem);
            }
            Thread.sleep(retryInterval);
        }
    }

    private HttpResponse<InputStream> send(HttpClient client, HttpRequest request)
            throws IOException, InterruptedException {
        CompletableFuture<HttpResponse<InputStream>> response = client.sendAsync(request, BodyHandlers.ofInputStream());
        try {
            return response.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new IOException("the resolver did not answer within " + timeout.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause() == null ? e : e.getCause());
        } finally {
            response.cancel(true);
        }
    }

    /**
     * The response. It is complete if its last line has the number of the rows and the SHA-256 of all lines before it.
     */
    private final class Download implements Scan {
        private final HttpClient client;
        private final ByteLines lines;
        private final MessageDigest digest = Digests.sha256();
        private final long[] nextOffsets;
        private final long startNanos = System.nanoTime();

        Download(HttpClient client, InputStream body) throws IOException {
            this.client = client;
            this.lines = new ByteLines(body);
            byte[] first = lines.next();
            if (first == null) {
                throw new IOException("the export is empty");
            }
            digest.update(first);
            String cursor = JSON.readTree(first).path("changesFrom").asText();
            try {
                nextOffsets = ChangeId.parse(cursor).nextOffsets();
            } catch (IllegalArgumentException e) {
                throw new IOException("the response is not an export of a resolver", e);
            }
        }

        @Override
        public long nextOffset(int partition) {
            return partition < nextOffsets.length ? nextOffsets[partition] : 0;
        }

        @Override
        public void forEach(BiConsumer<Puri, Row> consumer) throws IOException {
            try {
                long rows = 0;
                for (byte[] line = lines.next(); line != null; line = lines.next()) {
                    JsonNode json = JSON.readTree(line);
                    if (json.has("rows")) {
                        requireComplete(json, rows);
                        return;
                    }
                    digest.update(line);
                    consumer.accept(Puri.parse(json.path("puri").asText()), row(json));
                    if (++rows % ROWS_PER_BATCH == 0) {
                        pace();
                    }
                }
                throw new IOException("the export ended after " + rows + " rows, without its last line");
            } catch (IllegalArgumentException | DateTimeException e) {
                throw new IOException("the export has an invalid row: " + e.getMessage(), e);
            }
        }

        private void pace() {
            if (System.nanoTime() - startNanos < maxPacedTime.toNanos()) {
                limiter.await(ROWS_PER_BATCH);
            } else {
                limiter.count(ROWS_PER_BATCH);
            }
        }

        private void requireComplete(JsonNode end, long rows) throws IOException {
            String sha256 = HexFormat.of().formatHex(digest.digest());
            if (end.path("rows").asLong() != rows
                    || !end.path("sha256").asText().equals(sha256)) {
                throw new IOException("the export is damaged: it has " + rows + " rows with the SHA-256 " + sha256
                        + ", and its last line is " + end);
            }
        }

        @Override
        public void close() {
            try {
                lines.close();
            } catch (IOException e) {
                // Nothing is read from it any more.
            } finally {
                // The connection is closed too, so that the resolver does not send rows that nobody reads.
                client.shutdownNow();
            }
        }
    }

    private static Row row(JsonNode json) {
        String handle = json.path("handle").asText("");
        String mergedInto = json.path("mergedInto").asText("");
        return new Row(
                UUID.fromString(json.path("uuid").asText()),
                new Owner(json.path("owner").asText()),
                new Shard(json.path("shard").asText()),
                handle.isEmpty() ? null : new Handle(handle),
                Row.Status.valueOf(json.path("status").asText().toUpperCase(Locale.ROOT)),
                json.path("epoch").asLong(),
                Instant.parse(json.path("createdAt").asText()),
                Instant.parse(json.path("changedAt").asText()),
                mergedInto.isEmpty() ? null : Puri.parse(mergedInto),
                Position.parse(json.path("position").asText()));
    }
}
