package dev.puri.search;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.http.EventStream;
import dev.puri.http.Exchange;
import dev.puri.http.JsonBody;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.http.ServerSentEvent;
import dev.puri.schemas.identity.Puri;
import dev.puri.search.Verification.BrokenOffException;
import dev.puri.search.Verification.Difference;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexSize;
import dev.puri.search.index.IndexUnavailableException;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Requests of operators: rebuild the index, verify it, and report its size. */
final class AdminRequests implements AutoCloseable {
    static final ProblemType VERIFY_UNDER_WAY =
            new ProblemType("verify-under-way", "The index is being verified already", 503);

    static final ProblemType TOO_MANY_TO_VERIFY =
            new ProblemType("too-many-to-verify", "The index is too large to be verified here", 503);

    private static final Logger log = LoggerFactory.getLogger(AdminRequests.class);

    /** With so much pending, the verification waits for its reader. */
    private static final int PENDING_BYTES = 256 << 10;

    private static final EventStream.Options LINES = new EventStream.Options(4 * PENDING_BYTES, Duration.ofSeconds(10));
    private static final Duration POLL = Duration.ofMillis(5);

    private final Indexer indexer;
    private final String engine;
    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final ChangeReader reader;
    private final AtomicBoolean isVerifying = new AtomicBoolean();
    private volatile boolean closed;

    /**
     * @param engine its name
     * @param reader one that nothing else uses, so that meters do not count records twice
     */
    AdminRequests(Indexer indexer, String engine, Supplier<Consumer<byte[], byte[]>> consumers, ChangeReader reader) {
        this.indexer = indexer;
        this.engine = engine;
        this.consumers = consumers;
        this.reader = reader;
    }

    void beginRebuild(Exchange exchange) {
        if (indexer.serving() == null) {
            Searches.notReady(
                    exchange, "The index is being built: " + indexer.health().progress() + ".");
            return;
        }
        indexer.rebuild();
        exchange.json(202, indexer.rebuildStatus()::writeTo);
    }

    void rebuildStatus(Exchange exchange) {
        exchange.json(200, indexer.rebuildStatus()::writeTo);
    }

    void cancelRebuild(Exchange exchange) {
        indexer.cancelRebuild();
        exchange.json(202, indexer.rebuildStatus()::writeTo);
    }

    void stats(Exchange exchange) {
        if (indexer.serving() == null) {
            Searches.notReady(
                    exchange,
                    "No index has been complete yet: " + indexer.health().progress() + ".");
            return;
        }
        exchange.json(200, this::writeStats);
    }

    private void writeStats(JsonGenerator json) throws IOException {
        IndexSize size = indexer.size();
        json.writeStartObject();
        json.writeStringField("engine", engine);
        json.writeNumberField("identities", size.identities());
        json.writeNumberField("documents", size.documents());
        json.writeNumberField("gone", size.gone());
        json.writeNumberField("bytes", size.bytes());
        Long behind = indexer.health().behind();
        if (behind != null) {
            json.writeNumberField("behind", behind);
        }
        Duration age = indexer.health().age();
        if (age != null) {
            json.writeNumberField("ageSeconds", age.toMillis() / 1000.0);
        }
        json.writeFieldName("reindex");
        indexer.rebuildStatus().writeTo(json);
        json.writeEndObject();
    }

    void verify(Exchange exchange) {
        if (indexer.serving() == null) {
            Searches.notReady(
                    exchange,
                    "No index has been complete yet: " + indexer.health().progress() + ".");
            return;
        }
        long most = Runtime.getRuntime().maxMemory() / 2 / Verification.BYTES_A_NAME;
        long names = Math.max(indexer.size().identities(), indexer.size().documents());
        if (names > most) {
            exchange.problem(Problem.of(
                    TOO_MANY_TO_VERIFY,
                    "There are " + names + " names, and half of the heap is enough to compare " + most + '.'));
            return;
        }
        if (!isVerifying.compareAndSet(false, true)) {
            exchange.header("Retry-After", "10")
                    .problem(Problem.of(VERIFY_UNDER_WAY, "One verification runs at a time."));
            return;
        }
        boolean runs = false;
        try {
            EventStream lines = exchange.lines(LINES, end -> {});
            Thread.ofPlatform().name("search-verify").daemon(true).start(() -> {
                try {
                    verify(lines);
                } finally {
                    isVerifying.set(false);
                }
            });
            runs = true;
        } finally {
            if (!runs) {
                // There may be no memory for a thread; a later verification may succeed.
                isVerifying.set(false);
            }
        }
    }

    private void verify(EventStream lines) {
        long begun = System.nanoTime();
        Map<Difference, Long> counts = new EnumMap<>(Difference.class);
        Verification verification = new Verification(
                indexer, consumers, reader, () -> lines.isOpen() && !closed, (puri, kind, difference, fields) -> {
                    counts.merge(difference, 1L, Long::sum);
                    send(lines, json -> write(json, puri, kind, difference, fields));
                });
        String failure = null;
        try {
            verification.run();
        } catch (BrokenOffException e) {
            failure = e.getMessage();
        } catch (IndexUnavailableException | KafkaException e) {
            failure = "something is away: " + e.getMessage();
        } catch (RuntimeException | Error e) {
            // Without the last line, the client would wait for ever.
            log.error("The verification failed", e);
            failure = "a bug: " + e;
        }
        String why = failure;
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        lines.end(line(json -> writeLast(json, verification, counts, why, took)));
    }

    /** Waits for a slow client; a client that has gone ends the verification. */
    private void send(EventStream lines, JsonBody body) {
        while (lines.isOpen() && !closed && lines.pendingBytes() > PENDING_BYTES) {
            LockSupport.parkNanos(POLL.toNanos());
        }
        lines.send(line(body));
    }

    private static ServerSentEvent line(JsonBody body) {
        return ServerSentEvent.encoded(JsonBody.bytes(body));
    }

    private static void write(JsonGenerator json, Puri puri, EntryKind kind, Difference difference, List<String> fields)
            throws IOException {
        json.writeStartObject();
        json.writeStringField("puri", puri.toString());
        json.writeStringField("kind", IndexMeters.name(kind));
        json.writeStringField("difference", difference.name().toLowerCase(Locale.ROOT));
        if (!fields.isEmpty()) {
            json.writeArrayFieldStart("fields");
            for (String field : fields) {
                json.writeString(field);
            }
            json.writeEndArray();
        }
        json.writeEndObject();
    }

    private static void writeLast(
            JsonGenerator json,
            Verification verification,
            Map<Difference, Long> counts,
            @Nullable String failure,
            Duration took)
            throws IOException {
        json.writeStartObject();
        json.writeBooleanField("done", failure == null);
        if (failure != null) {
            json.writeStringField("detail", failure);
        }
        json.writeNumberField("identities", verification.compared(EntryKind.IDENTITY));
        json.writeNumberField("documents", verification.compared(EntryKind.DOCUMENT));
        for (Difference difference : Difference.values()) {
            json.writeNumberField(difference.name().toLowerCase(Locale.ROOT), counts.getOrDefault(difference, 0L));
        }
        json.writeNumberField("unsettled", verification.unsettled());
        json.writeNumberField("seconds", took.toMillis() / 1000.0);
        json.writeEndObject();
    }

    /** Ends a verification that is under way. */
    @Override
    public void close() {
        closed = true;
    }
}
