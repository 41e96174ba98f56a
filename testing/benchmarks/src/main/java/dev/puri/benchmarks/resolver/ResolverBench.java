package dev.puri.benchmarks.resolver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.data.ResolverRequests;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.Program;
import dev.puri.benchmarks.environment.SchemaServer;
import dev.puri.benchmarks.load.HttpSocket;
import dev.puri.benchmarks.load.OpenLoop;
import dev.puri.benchmarks.load.SlowClients;
import dev.puri.benchmarks.load.Wrk;
import dev.puri.benchmarks.report.Bench;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
import dev.puri.benchmarks.serve.MeasuredResolver;
import dev.puri.benchmarks.serve.MeasuredServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code puri bench resolver}: the resolver over HTTP, compared with servers that a user would have instead. Each
 * server has a separate process and the same rows. The same load generator sends the same requests to each server,
 * alternating.
 *
 * <pre>
 * this process: broker ─▶ resolver                              ◀─ wrk            get, post
 *                         bare Vert.x handler                   ◀─ wrk
 *                         Vert.x handler ─▶ Redis ◀──────────────── redis-benchmark
 *                         Vert.x handler ─▶ PostgreSQL          ◀─ wrk
 *                         resolver                              ◀─ OpenLoop       latency
 *                         resolver ◀─ SlowClients               ◀─ OpenLoop       attack
 *                         resolver ◀─ HostileClients            ◀─ wrk            soak
 * </pre>
 */
@Command(
        name = "resolver",
        description = {
            "Measures the throughput of a resolver over HTTP, compared with a bare handler, Redis, and handlers",
            "over Redis and PostgreSQL; also its latency, its latency under attack, and its memory.",
            "Needs wrk; the baselines also need redis-server, redis-benchmark and PostgreSQL."
        })
public final class ResolverBench extends Bench {
    private static final String OURS = "ours";
    private static final String BARE = "bare Vert.x handler answering the same bytes";
    private static final String REDIS_GET = "Redis GET of the same bytes, redis-benchmark -c 32";
    private static final String REDIS_MGET = "Redis MGET of 100 values of equal bytes, keys/s";
    private static final String REDIS_HANDLER = "a Vert.x handler over Redis MGET, JSON out";
    private static final String POSTGRES_HANDLER = "a Vert.x handler over PostgreSQL = ANY, JSON out";
    private static final int NAMES = 50_000;
    private static final int BATCHES = 2_000;

    /** Requests per second of the healthy clients under attack; well below the capacity of a machine with two cores. */
    private static final int HEALTHY_RATE = 1000;

    private static final int ATTACKERS = 500;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @Option(names = "--rows", description = "Number of identities.")
    int rows = 1_000_000;

    @Option(names = "--seconds", description = "Duration of each side in each round.")
    int seconds = 5;

    @Option(
            names = "--attack-seconds",
            paramLabel = "SECONDS",
            description = "Duration of each side in each round under attack.")
    private int attackSeconds = 15;

    @Option(names = "--rounds", description = "Number of rounds of each side, after a warm-up; medians count.")
    private int rounds = 5;

    @Option(
            names = "--soak-requests",
            paramLabel = "REQUESTS",
            description = "Number of requests before memory is compared; 3,600,000 are an hour at 1,000 per second.")
    long soakRequests = 3_600_000;

    @Option(
            names = "--resolver-java-opts",
            paramLabel = "OPTIONS",
            split = " ",
            description = "Further options of the resolver's JVM, for example for a profiler.")
    private List<String> javaOptions = List.of();

    @Option(names = "--only", split = ",", paramLabel = "PART", description = ONLY)
    private Set<Part> only = EnumSet.allOf(Part.class);

    private enum Part {
        GET,
        POST,
        LATENCY,
        ATTACK,
        SOAK
    }

    /** Servers that run at the same time. */
    private record Sides(
            MeasuredResolver resolver,
            Wrk wrk,
            Path dir,
            @Nullable RedisSide redis,
            @Nullable PostgresSide postgres) {}

    @Override
    protected void measure() throws Exception {
        require(
                rows >= 1000 && seconds > 0 && attackSeconds > 0 && rounds > 0 && soakRequests >= 1000,
                "needed: at least 1000 rows, 1 second, 1 round and 1000 requests to soak");
        for (Program program : Program.values()) {
            if (!program.isInstalled()) {
                progress("left out what needs it: " + program.notInstalledMessage());
            }
        }
        add("identities", "rows", rows);
        try (FreshBroker broker = new FreshBroker();
                SchemaServer schemas = new SchemaServer()) {
            Population.publish(broker.bootstrapServers(), 0, rows, 0);
            try (MeasuredResolver resolver = MeasuredResolver.start(broker, schemas, rows, javaOptions)) {
                progress("the resolver has %,d rows".formatted(rows));
                measure(broker, resolver);
            }
        }
    }

    private void measure(FreshBroker broker, MeasuredResolver resolver) throws Exception {
        Wrk wrk = new Wrk(broker.directory("wrk"));
        boolean hasWrk = Program.WRK.isInstalled();
        if (hasWrk && (only.contains(Part.GET) || only.contains(Part.POST))) {
            measureWithBaselines(broker, resolver, wrk);
        }
        if (hasWrk && only.contains(Part.LATENCY)) {
            measureLatency(resolver, wrk);
        }
        if (only.contains(Part.ATTACK)) {
            measureAttack(resolver);
        }
        if (hasWrk && only.contains(Part.SOAK)) {
            new Soak(this, broker, resolver, wrk).measure();
        }
    }

    private void measureWithBaselines(FreshBroker broker, MeasuredResolver resolver, Wrk wrk) throws Exception {
        List<String> batches = new ResolverRequests(rows).batches(20);
        boolean hasRedis = Program.REDIS_SERVER.isInstalled() && Program.REDIS_BENCHMARK.isInstalled();
        boolean hasPostgres = only.contains(Part.POST) && Program.INITDB.isInstalled();
        try (RedisSide redis = hasRedis
                        ? RedisSide.start(broker.directory("redis"), rows, meanResultBytes(resolver, batches))
                        : null;
                PostgresSide postgres = hasPostgres ? PostgresSide.start(rows) : null) {
            progress("the baselines have the rows");
            Sides sides = new Sides(resolver, wrk, broker.directory("wrk"), redis, postgres);
            if (only.contains(Part.GET)) {
                measureGets(sides);
            }
            if (only.contains(Part.POST)) {
                measurePosts(sides, batches);
            }
        }
    }

    /** Returns the mean size of a result in the answers to these batches. */
    private static int meanResultBytes(MeasuredResolver resolver, List<String> batches) throws IOException {
        long bytes = 0;
        for (String batch : batches) {
            bytes += resolver.ask(HttpSocket.post("/v1/resolve", batch)).body().length;
        }
        return (int) (bytes / batches.size() / ResolverRequests.BATCH);
    }

    private void measureGets(Sides sides) throws Exception {
        int known = rows / 2;
        HttpSocket.Response answer = sides.resolver.ask(
                HttpSocket.get(ResolverRequests.path(Population.puri(known).toString())));
        requireSame("Redis' values", ResolverRequests.answer(known), answer.text());
        Path answerFile = Files.write(sides.dir.resolve("answer"), answer.bytes());
        List<String> names = new ResolverRequests(rows).names(NAMES);
        Path requests = sides.wrk.requests(
                "gets",
                names.stream().map(name -> "GET " + ResolverRequests.path(name)).toList());
        try (MeasuredServer bare = MeasuredServer.startBaseline("bare", answerFile.toString())) {
            byte[] theirs = HttpSocket.askOnce(bare.port(), HttpSocket.get("/")).bytes();
            requireSame(
                    BARE,
                    new String(answer.bytes(), StandardCharsets.UTF_8),
                    new String(theirs, StandardCharsets.UTF_8));
            Rounds measured = measureRounds(rounds, "GETs a second", (round, recorder) -> {
                recorder.record(OURS, sides.wrk.rate(sides.resolver.port(), requests, seconds));
                recorder.record(BARE, sides.wrk.rate(bare.port(), requests, seconds));
                if (sides.redis != null) {
                    recorder.record(REDIS_GET, sides.redis.gets(seconds, NAMES));
                }
            });
            measured.addForEachBaseline("GET by pURI, keep-alive, 32 connections", "1/s", OURS, List.of(BARE));
            measured.addIfMeasured("GET by pURI", "1/s", OURS, REDIS_GET, Program.REDIS_SERVER.notInstalledMessage());
        }
    }

    private void measurePosts(Sides sides, List<String> examples) throws Exception {
        Path requests = batchRequests(sides.wrk, new ResolverRequests(rows).batches(BATCHES));
        try (MeasuredServer overRedis = sides.redis == null ? null : startHandler("redis", sides.redis.port());
                MeasuredServer overPostgres =
                        sides.postgres == null ? null : startHandler("postgres", sides.postgres.port())) {
            if (overRedis != null) {
                requireSameAnswers(REDIS_HANDLER, sides.resolver, overRedis, examples);
            }
            if (overPostgres != null) {
                requireSameAnswers(POSTGRES_HANDLER, sides.resolver, overPostgres, examples);
            }
            Rounds measured = measureRounds(rounds, "references a second", (round, recorder) -> {
                recorder.record(OURS, refsPerSecond(sides.wrk, sides.resolver, requests));
                if (sides.redis != null && overRedis != null) {
                    recorder.record(REDIS_MGET, sides.redis.mgets(seconds, BATCHES * ResolverRequests.BATCH));
                    recorder.record(REDIS_HANDLER, refsPerSecond(sides.wrk, overRedis, requests));
                }
                if (overPostgres != null) {
                    recorder.record(POSTGRES_HANDLER, refsPerSecond(sides.wrk, overPostgres, requests));
                }
            });
            String name = "POST of 100 mixed refs, refs/s";
            measured.addIfMeasured(name, "refs/s", OURS, REDIS_MGET, Program.REDIS_SERVER.notInstalledMessage());
            measured.addIfMeasured(name, "refs/s", OURS, REDIS_HANDLER, Program.REDIS_SERVER.notInstalledMessage());
            measured.addIfMeasured(name, "refs/s", OURS, POSTGRES_HANDLER, Program.INITDB.notInstalledMessage());
        }
    }

    private static Path batchRequests(Wrk wrk, List<String> batches) throws IOException {
        return wrk.requests(
                "posts",
                batches.stream().map(batch -> "POST /v1/resolve " + batch).toList());
    }

    private static MeasuredServer startHandler(String store, int port) throws IOException {
        return MeasuredServer.startBaseline(store, Integer.toString(port));
    }

    private double refsPerSecond(Wrk wrk, MeasuredServer server, Path requests) throws IOException {
        return ResolverRequests.BATCH * wrk.rate(server.port(), requests, seconds);
    }

    private static void requireSameAnswers(
            String baseline, MeasuredResolver resolver, MeasuredServer other, List<String> batches) throws IOException {
        try (HttpSocket socket = new HttpSocket(other.port())) {
            for (String batch : batches) {
                byte[] request = HttpSocket.post("/v1/resolve", batch);
                JsonNode ours = MAPPER.readTree(resolver.ask(request).body());
                JsonNode theirs = MAPPER.readTree(socket.ask(request, 200).body());
                requireSame(baseline, ours.toPrettyString(), theirs.toPrettyString());
            }
        }
    }

    /** Checks that a baseline gives the resolver's answer. */
    private static void requireSame(String baseline, String ours, String theirs) {
        if (!ours.equals(theirs)) {
            throw new IllegalStateException(baseline + " differs from our answer:\n" + theirs + "\nours:\n" + ours);
        }
    }

    private void measureLatency(MeasuredResolver resolver, Wrk wrk) throws Exception {
        List<String> batches = new ResolverRequests(rows).batches(BATCHES);
        Path requests = batchRequests(wrk, batches);
        double maxRate = 0;
        for (int round = 0; round <= rounds; round++) {
            maxRate = Math.max(maxRate, wrk.rate(resolver.port(), requests, seconds));
        }
        double rate = maxRate / 2;
        List<byte[]> posts = batches.stream()
                .map(batch -> HttpSocket.post("/v1/resolve", batch))
                .toList();
        Histogram nanos = OpenLoop.run(resolver.port(), posts, rate, Duration.ofSeconds((long) seconds * rounds));
        progress("POST of 100 at %,.0f a second, top %,.0f: %s".formatted(rate, maxRate, Timing.describe(nanos)));
        add("POST of 100 at half of the top rate", "1/s", rate);
        addPercentiles("POST of 100, %s at half of the top rate", "ms", nanos, 1e6, 50, 99);
    }

    private void measureAttack(MeasuredResolver resolver) throws Exception {
        ResolverRequests requests = new ResolverRequests(rows);
        List<byte[]> healthy = new ArrayList<>();
        for (String name : requests.names(NAMES / 10)) {
            healthy.add(HttpSocket.get(ResolverRequests.path(name)));
            if (healthy.size() % 10 == 0) {
                healthy.add(HttpSocket.post("/v1/resolve", requests.batch()));
            }
        }
        String before = "before";
        Rounds measured = measureRounds(Math.max(1, rounds / 2), "p99 of healthy clients, ms", (round, recorder) -> {
            recorder.record(before, healthyP99(resolver, healthy));
            for (SlowClients.Attack attack : SlowClients.Attack.values()) {
                try (SlowClients slow = new SlowClients(resolver.port(), attack, ATTACKERS)) {
                    recorder.record(attack.name(), healthyP99(resolver, healthy));
                    progress("slow %s: the server closed %,d connections".formatted(attack, slow.closedByServer()));
                }
            }
        });
        String name = "p99 of healthy clients, 500 connections with slow ";
        measured.add(name + "headers", "ms", SlowClients.Attack.HEADERS.name(), before, before);
        measured.add(name + "bodies", "ms", SlowClients.Attack.BODY.name(), before, before);
    }

    private double healthyP99(MeasuredResolver resolver, List<byte[]> requests) throws IOException {
        Duration duration = Duration.ofSeconds(attackSeconds);
        return Timing.millis(OpenLoop.run(resolver.port(), requests, HEALTHY_RATE, duration), 99);
    }
}
