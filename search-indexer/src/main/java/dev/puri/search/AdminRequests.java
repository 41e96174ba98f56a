package dev.puri.search;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.http.EventStream;
import dev.puri.http.Exchange;
import dev.puri.http.JsonBody;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.http.ServerSentEvent;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import dev.puri.search.IndexVerifier.AbortedException;
import dev.puri.search.IndexVerifier.Difference;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexSize;
import dev.puri.search.index.IndexUnavailableException;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Handles the requests of operators: rebuild the index, verify it, and report its size. */
final class AdminRequests implements AutoCloseable {
    static final ProblemType VERIFY_UNDER_WAY =
            new ProblemType("verify-under-way", "A verification of the index is already running", 503);

    static final ProblemType TOO_MANY_TO_VERIFY = new ProblemType(
            "too-many-to-verify", "The index is too large to be verified in the heap of this process", 503);

    private static final Logger log = LoggerFactory.getLogger(AdminRequests.class);

    /** The verification pauses while more bytes than this are not yet sent to the client. */
    private static final int MAX_PENDING_BYTES = 256 << 10;

    private static final EventStream.Options STREAM_OPTIONS =
            new EventStream.Options(4 * MAX_PENDING_BYTES, Duration.ofSeconds(10));
    /** How long a request for the digests waits for the indexer's thread. */
    private static final Duration DIGEST_TIMEOUT = Duration.ofSeconds(10);

    private static final Duration POLL_INTERVAL = Duration.ofMillis(5);

    private final Indexer indexer;
    private final String engineName;
    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final ChangeDecoder decoder;
    private final AtomicBoolean isVerificationRunning = new AtomicBoolean();
    private volatile boolean isClosed;

    /**
     * @param engineName name of the search engine, as shown in the statistics
     * @param decoder used by verifications only; with a shared one, the metrics would count records twice
     */
    AdminRequests(
            Indexer indexer, String engineName, Supplier<Consumer<byte[], byte[]>> consumers, ChangeDecoder decoder) {
        this.indexer = indexer;
        this.engineName = engineName;
        this.consumers = consumers;
        this.decoder = decoder;
    }

    /** Whether an index serves. If not, responds with the reason. */
    private boolean isServing(Exchange exchange) {
        if (indexer.serving() == null) {
            SearchHandlers.respondNotReady(
                    exchange, "No index is available: " + indexer.health().waitReason() + ".");
            return false;
        }
        return true;
    }

    void beginRebuild(Exchange exchange) {
        if (!isServing(exchange)) {
            return;
        }
        SourceOffsets source = indexer.endOffsets().lastOffsets();
        String truncation = source == null ? null : source.truncation();
        if (truncation != null) {
            SearchHandlers.respondNotReady(exchange, "The index cannot be rebuilt: " + truncation + ".");
            return;
        }
        indexer.requestRebuild();
        exchange.json(202, indexer.rebuildStatus()::writeTo);
    }

    void rebuildStatus(Exchange exchange) {
        exchange.json(200, indexer.rebuildStatus()::writeTo);
    }

    void cancelRebuild(Exchange exchange) {
        indexer.requestCancellation();
        exchange.json(202, indexer.rebuildStatus()::writeTo);
    }

    void stats(Exchange exchange) {
        if (isServing(exchange)) {
            exchange.json(200, this::writeStats);
        }
    }

    private void writeStats(JsonGenerator json) throws IOException {
        IndexSize size = indexer.size();
        json.writeStartObject();
        json.writeStringField("engine", engineName);
        json.writeNumberField("identities", size.identities());
        json.writeNumberField("documents", size.documents());
        json.writeNumberField("gone", size.gone());
        json.writeNumberField("bytes", size.bytes());
        Long lag = indexer.health().lag();
        if (lag != null) {
            json.writeNumberField("behind", lag);
        }
        Duration staleness = indexer.health().staleness();
        if (staleness != null) {
            json.writeNumberField("ageSeconds", staleness.toMillis() / 1000.0);
        }
        json.writeFieldName("reindex");
        indexer.rebuildStatus().writeTo(json);
        json.writeEndObject();
    }

    void digest(Exchange exchange) {
        if (!isServing(exchange)) {
            return;
        }
        indexer.requestDigests()
                .orTimeout(DIGEST_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
                .whenComplete((topics, failure) -> exchange.runOnEventLoop(() -> {
                    if (exchange.isOver()) {
                        return;
                    }
                    if (topics == null) {
                        SearchHandlers.respondNotReady(
                                exchange,
                                "The index is not updated: " + indexer.health().waitReason() + ".");
                    } else {
                        exchange.json(200, json -> JsonBody.writeValue(json, Map.of("topics", topics)));
                    }
                }));
    }

    void verify(Exchange exchange) {
        if (!isServing(exchange)) {
            return;
        }
        long maxNames = maxNamesToVerify();
        long names = Math.max(indexer.size().identities(), indexer.size().documents());
        if (names > maxNames) {
            exchange.problem(Problem.of(
                    TOO_MANY_TO_VERIFY,
                    "The index has " + names + " names, but half of the heap of this process suffices for only "
                            + maxNames + '.'));
            return;
        }
        if (!isVerificationRunning.compareAndSet(false, true)) {
            exchange.header("Retry-After", "10")
                    .problem(Problem.of(VERIFY_UNDER_WAY, "Only one verification can run at a time."));
            return;
        }
        boolean isStarted = false;
        try {
            EventStream stream = exchange.lines(STREAM_OPTIONS, end -> {});
            Thread.ofPlatform().name("search-verify").daemon(true).start(() -> {
                try {
                    verify(stream);
                } finally {
                    isVerificationRunning.set(false);
                }
            });
            isStarted = true;
        } finally {
            if (!isStarted) {
                // There may be no memory for a thread. A later verification may succeed.
                isVerificationRunning.set(false);
            }
        }
    }

    private static long maxNamesToVerify() {
        return Runtime.getRuntime().maxMemory() / 2 / IndexVerifier.BYTES_PER_NAME;
    }

    private void verify(EventStream stream) {
        long startedAtNanos = System.nanoTime();
        Map<Difference, Long> counts = new EnumMap<>(Difference.class);
        IndexVerifier verifier = new IndexVerifier(
                indexer,
                consumers,
                decoder,
                maxNamesToVerify(),
                () -> stream.isOpen() && !isClosed,
                (puri, kind, difference, fields, indexed) -> {
                    counts.merge(difference, 1L, Long::sum);
                    send(stream, json -> write(json, puri, kind, difference, fields, indexed));
                });
        String failure = null;
        try {
            verifier.run();
        } catch (AbortedException e) {
            failure = e.getMessage();
        } catch (IndexUnavailableException | KafkaException e) {
            failure = "Kafka or the index is unavailable: " + e.getMessage();
        } catch (RuntimeException | Error e) {
            // The client waits for the last line, so it must be sent after every failure.
            log.error("The verification failed", e);
            failure = "internal error: " + e;
        }
        String detail = failure;
        Duration duration = Duration.ofNanos(System.nanoTime() - startedAtNanos);
        stream.end(encodedLine(json -> writeSummary(json, verifier, counts, detail, duration)));
    }

    /** Sends a line. Blocks while the client reads slowly; the verification ends if the client has disconnected. */
    private void send(EventStream stream, JsonBody body) {
        while (stream.isOpen() && !isClosed && stream.pendingBytes() > MAX_PENDING_BYTES) {
            LockSupport.parkNanos(POLL_INTERVAL.toNanos());
        }
        stream.send(encodedLine(body));
    }

    private static ServerSentEvent encodedLine(JsonBody body) {
        return ServerSentEvent.encoded(JsonBody.bytes(body));
    }

    private static void write(
            JsonGenerator json,
            Puri puri,
            EntryKind kind,
            Difference difference,
            List<String> fields,
            @Nullable Entry indexed)
            throws IOException {
        json.writeStartObject();
        json.writeStringField("puri", puri.toString());
        json.writeStringField("kind", kind.text());
        json.writeStringField("difference", difference.name().toLowerCase(Locale.ROOT));
        if (!fields.isEmpty()) {
            json.writeFieldName("fields");
            JsonBody.writeValue(json, fields);
        }
        if (indexed != null) {
            json.writeObjectFieldStart("indexed");
            for (Map.Entry<String, String> field : Fingerprint.texts(indexed).entrySet()) {
                if (fields.isEmpty() || fields.contains(field.getKey())) {
                    json.writeStringField(field.getKey(), field.getValue());
                }
            }
            json.writeEndObject();
        }
        json.writeEndObject();
    }

    private static void writeSummary(
            JsonGenerator json,
            IndexVerifier verifier,
            Map<Difference, Long> counts,
            @Nullable String detail,
            Duration duration)
            throws IOException {
        json.writeStartObject();
        json.writeBooleanField("done", detail == null);
        if (detail != null) {
            json.writeStringField("detail", detail);
        }
        json.writeNumberField("identities", verifier.comparedNames(EntryKind.IDENTITY));
        json.writeNumberField("documents", verifier.comparedNames(EntryKind.DOCUMENT));
        for (Difference difference : Difference.values()) {
            json.writeNumberField(difference.name().toLowerCase(Locale.ROOT), counts.getOrDefault(difference, 0L));
        }
        json.writeNumberField("unsettled", verifier.unsettledNames());
        json.writeNumberField("seconds", duration.toMillis() / 1000.0);
        json.writeEndObject();
    }

    /** Ends the running verification. */
    @Override
    public void close() {
        isClosed = true;
    }
}
