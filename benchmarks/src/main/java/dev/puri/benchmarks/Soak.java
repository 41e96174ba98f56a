package dev.puri.benchmarks;

import dev.puri.schemas.identity.Puri;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Consumer;
import org.apache.kafka.common.utils.Utils;

/**
 * What a resolver holds while it is asked all kinds of things, and what no client should ask, and its rows
 * change. After each tenth of it everybody leaves, and what it then holds is read; the first tenth is its
 * warming up, and what it holds after that is the start.
 */
final class Soak {
    private static final String NAME = "memory after an hour-equivalent of mixed load, hostile input included";
    private static final int PARTS = 10;
    private static final int LINES = 20_000;
    private static final int SLOW_CLIENTS = 100;
    private static final int CHANGED_ROWS = 20_000;
    private static final int MB = 1_000_000;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final ResolverBench.Plan plan;
    private final FreshBroker broker;
    private final MeasuredResolver resolver;
    private final Wrk wrk;
    private final Consumer<String> progress;
    private final List<Held> series = new ArrayList<>();
    private long sent;
    private long hostile;
    private long version;

    /** Everything of one moment. */
    private record Held(long requests, ServerProcess.Memory memory, double table) {}

    Soak(ResolverBench.Plan plan, FreshBroker broker, MeasuredResolver resolver, Wrk wrk, Consumer<String> progress) {
        this.plan = plan;
        this.broker = broker;
        this.resolver = resolver;
        this.wrk = wrk;
        this.progress = progress;
    }

    List<Figure> measure() throws Exception {
        Path requests = wrk.requests("mixed", mixed());
        for (int part = 1; part <= PARTS; part++) {
            part(requests, plan.soakRequests() * part / PARTS);
            awaitAllGone();
            hold();
        }
        requireNoFaults();
        return figures();
    }

    private void part(Path requests, long until) throws Exception {
        try (HostileClients hostiles = new HostileClients(resolver.port(), sent);
                SlowClients headers = new SlowClients(resolver.port(), SlowClients.Attack.HEADERS, SLOW_CLIENTS / 2);
                SlowClients bodies = new SlowClients(resolver.port(), SlowClients.Attack.BODY, SLOW_CLIENTS / 2)) {
            version++;
            Population.publish(broker.bootstrapServers(), 0, Math.min(plan.rows(), CHANGED_ROWS), version);
            while (sent + hostiles.sent() < until) {
                sent += wrk.run(resolver.port(), requests, plan.seconds()).requests();
            }
            sent += hostiles.sent();
            hostile += hostiles.sent();
        }
    }

    private List<String> mixed() {
        Questions questions = new Questions(plan.rows());
        Random random = new Random(plan.rows());
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < LINES; i++) {
            int number = random.nextInt(plan.rows());
            Puri puri = Population.puri(number);
            int kind = random.nextInt(100);
            if (kind < 10) {
                lines.add("POST /v1/resolve " + questions.batch());
            } else if (kind < 11) {
                lines.add("POST /v1/resolve {\"refs\":[1]}");
            } else if (kind < 12) {
                lines.add("POST /v1/resolve {\"refs\":[\"" + puri + "\"");
            } else if (kind < 14) {
                // An event that is not there yet.
                int partition = Utils.toPositive(Utils.murmur2(puri.toBytes())) % FreshBroker.PARTITIONS;
                lines.add("GET " + Questions.path(puri + "?at=" + partition + "-99999999&wait=5ms"));
            } else if (kind < 19) {
                lines.add("GET "
                        + Questions.path(
                                Population.puri(Population.missing(number)).toString()));
            } else if (kind < 22) {
                lines.add("GET " + Questions.path("no-name-" + number));
            } else if (kind < 24) {
                lines.add("GET /v1/nothing/" + number);
            } else if (kind < 25) {
                lines.add("GET /openapi.json");
            } else if (kind < 40) {
                lines.add("GET " + Questions.path(Population.handle(number).text()));
            } else {
                lines.add("GET " + Questions.path(puri.toString()));
            }
        }
        return lines;
    }

    /** What is open then is the resolver's own. */
    private void awaitAllGone() throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        // The one that asks.
        while (resolver.metric("puri_http_connections") > 1 || resolver.metric("puri_waiters") > 0) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("connections or waiters are left: "
                        + resolver.metric("puri_http_connections") + ", " + resolver.metric("puri_waiters"));
            }
            Thread.sleep(50);
        }
    }

    private void hold() throws IOException {
        Held held = new Held(sent, resolver.memory(), resolver.metric("puri_table_bytes"));
        series.add(held);
        progress.accept(String.format(
                Locale.ROOT,
                "%,d requests: heap %.1f MB, direct %.1f MB, table %.1f MB, resident %.1f MB, %d descriptors",
                sent,
                held.memory.heap() / (double) MB,
                held.memory.direct() / (double) MB,
                held.table / MB,
                held.memory.resident() / (double) MB,
                held.memory.descriptors()));
    }

    private void requireNoFaults() throws IOException {
        double faults = resolver.metric("puri_http_requests_seconds_count", "status=\"500\"");
        if (faults > 0) {
            throw new IllegalStateException("the resolver had " + faults + " faults of its own");
        }
    }

    private List<Figure> figures() {
        Held start = series.getFirst();
        Held end = series.getLast();
        String baseline = String.format(Locale.ROOT, "after the first %,d", start.requests);
        List<Figure> figures = new ArrayList<>();
        figures.add(Figure.alone(NAME, "requests", end.requests));
        figures.add(Figure.alone(NAME + ": hostile ones", "requests", hostile));
        figures.add(megabytes(": heap after a collection", end.memory.heap(), baseline, start.memory.heap()));
        figures.add(megabytes(": buffers outside the heap", end.memory.direct(), baseline, start.memory.direct()));
        figures.add(megabytes(": table outside the heap", end.table, baseline, start.table));
        figures.add(megabytes(": resident", end.memory.resident(), baseline, start.memory.resident()));
        figures.add(new Figure(NAME + ": file descriptors", "1", end.memory.descriptors(), baseline, (double)
                start.memory.descriptors()));
        return figures;
    }

    private static Figure megabytes(String what, double end, String baseline, double start) {
        return new Figure(NAME + what, "MB", end / MB, baseline, start / MB);
    }
}
