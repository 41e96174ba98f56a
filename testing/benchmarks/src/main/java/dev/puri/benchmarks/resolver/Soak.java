package dev.puri.benchmarks.resolver;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.data.ResolverRequests;
import dev.puri.benchmarks.environment.Await;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.load.HostileClients;
import dev.puri.benchmarks.load.SlowClients;
import dev.puri.benchmarks.load.Wrk;
import dev.puri.benchmarks.serve.MeasuredResolver;
import dev.puri.benchmarks.serve.MeasuredServer;
import dev.puri.schemas.identity.Puri;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.ToDoubleFunction;
import org.apache.kafka.common.utils.Utils;

/**
 * Measures the memory of a resolver under mixed requests, hostile ones included, while rows change. After each tenth of
 * the requests, all clients disconnect and the memory is read. The first tenth is a warm-up; the memory at the end is
 * compared with the memory after it.
 */
final class Soak {
    private static final String NAME = "memory after an hour-equivalent of mixed load, hostile input included";
    private static final int PARTS = 10;
    private static final int REQUESTS = 20_000;
    private static final int SLOW_CLIENTS = 100;
    private static final int CHANGED_ROWS = 20_000;
    private static final double MB = 1e6;
    private static final Duration DISCONNECT_TIMEOUT = Duration.ofSeconds(30);

    private final ResolverBench bench;
    private final FreshBroker broker;
    private final MeasuredResolver resolver;
    private final Wrk wrk;
    private final List<State> series = new ArrayList<>();
    private long sentCount;
    private long hostileCount;

    /** The memory of the resolver after a number of requests. */
    private record State(long requests, MeasuredServer.Memory memory, double tableBytes) {}

    Soak(ResolverBench bench, FreshBroker broker, MeasuredResolver resolver, Wrk wrk) {
        this.bench = bench;
        this.broker = broker;
        this.resolver = resolver;
        this.wrk = wrk;
    }

    void measure() throws Exception {
        Path requests = wrk.requests("mixed", mixedRequests());
        for (int part = 1; part <= PARTS; part++) {
            sendRequests(requests, part, bench.soakRequests * part / PARTS);
            // The request for the metrics has one connection.
            Await.until(
                    "the end of all connections and waiters",
                    DISCONNECT_TIMEOUT,
                    () -> resolver.metric("puri_http_connections") <= 1 && resolver.metric("puri_waiters") == 0);
            readMemory();
        }
        requireNoServerErrors();
        addFigures();
    }

    private void sendRequests(Path requests, int version, long targetCount) throws Exception {
        try (HostileClients hostiles = new HostileClients(resolver.port(), sentCount);
                SlowClients headers = new SlowClients(resolver.port(), SlowClients.Attack.HEADERS, SLOW_CLIENTS / 2);
                SlowClients bodies = new SlowClients(resolver.port(), SlowClients.Attack.BODY, SLOW_CLIENTS / 2)) {
            Population.publish(broker.bootstrapServers(), 0, Math.min(bench.rows, CHANGED_ROWS), version);
            while (sentCount + hostiles.sentCount() < targetCount) {
                sentCount += wrk.run(resolver.port(), requests, bench.seconds).requests();
            }
            sentCount += hostiles.sentCount();
            hostileCount += hostiles.sentCount();
        }
    }

    private List<String> mixedRequests() {
        ResolverRequests requests = new ResolverRequests(bench.rows);
        Random random = new Random(bench.rows);
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            int number = random.nextInt(bench.rows);
            Puri puri = Population.puri(number);
            int kind = random.nextInt(100);
            if (kind < 10) {
                lines.add("POST /v1/resolve " + requests.batch());
            } else if (kind < 11) {
                lines.add("POST /v1/resolve {\"refs\":[1]}");
            } else if (kind < 12) {
                lines.add("POST /v1/resolve {\"refs\":[\"" + puri + "\"");
            } else if (kind < 14) {
                // The token of an event that does not exist yet.
                int partition = Utils.toPositive(Utils.murmur2(puri.toBytes())) % FreshBroker.PARTITIONS;
                lines.add("GET " + ResolverRequests.path(puri + "?at=" + partition + "-99999999&wait=5ms"));
            } else if (kind < 19) {
                lines.add("GET "
                        + ResolverRequests.path(
                                Population.puri(Population.missing(number)).toString()));
            } else if (kind < 22) {
                lines.add("GET " + ResolverRequests.path("no-name-" + number));
            } else if (kind < 24) {
                lines.add("GET /v1/nothing/" + number);
            } else if (kind < 25) {
                lines.add("GET /openapi.json");
            } else if (kind < 40) {
                lines.add(
                        "GET " + ResolverRequests.path(Population.handle(number).text()));
            } else {
                lines.add("GET " + ResolverRequests.path(puri.toString()));
            }
        }
        return lines;
    }

    private void readMemory() throws IOException {
        State state = new State(sentCount, resolver.memory(), resolver.metric("puri_table_bytes"));
        series.add(state);
        bench.progress(String.format(
                Locale.ROOT,
                "%,d requests: heap %.1f MB, direct %.1f MB, table %.1f MB, resident %.1f MB, %d descriptors",
                sentCount,
                state.memory.heap() / MB,
                state.memory.direct() / MB,
                state.tableBytes / MB,
                state.memory.resident() / MB,
                state.memory.descriptors()));
    }

    private void requireNoServerErrors() throws IOException {
        double errorCount = resolver.metric("puri_http_requests_seconds_count", "status=\"500\"");
        if (errorCount > 0) {
            throw new IllegalStateException("the resolver answered " + errorCount + " requests with status 500");
        }
    }

    private void addFigures() {
        bench.add(NAME, "requests", series.getLast().requests);
        bench.add(NAME + ": hostile ones", "requests", hostileCount);
        add("heap after a collection", "MB", state -> state.memory.heap() / MB);
        add("buffers outside the heap", "MB", state -> state.memory.direct() / MB);
        add("table outside the heap", "MB", state -> state.tableBytes / MB);
        add("resident", "MB", state -> state.memory.resident() / MB);
        add("file descriptors", "1", state -> state.memory.descriptors());
    }

    private void add(String name, String unit, ToDoubleFunction<State> value) {
        State first = series.getFirst();
        String baseline = String.format(Locale.ROOT, "after the first %,d", first.requests);
        double last = value.applyAsDouble(series.getLast());
        bench.add(NAME + ": " + name, unit, last, baseline, value.applyAsDouble(first));
    }
}
