package dev.puri.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The resolver over HTTP beside what one would have instead, each server in a process of its own, all of them with
 * the same rows and asked the same by the same program, in turn.
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
final class ResolverBench {
    private static final String GET = "GET by pURI, keep-alive, 32 connections";
    private static final String GET_OTHERS = "GET by pURI";
    private static final String POST = "POST of 100 mixed refs, refs/s";
    private static final String OURS = "ours";
    private static final String BARE = "bare Vert.x handler answering the same bytes";
    private static final String REDIS_GET = "Redis GET of the same bytes, redis-benchmark -c 32";
    private static final String REDIS_MGET = "Redis MGET of 100 values of equal bytes, keys/s";
    private static final String REDIS_HANDLER = "a Vert.x handler over Redis MGET, JSON out";
    private static final String POSTGRES_HANDLER = "a Vert.x handler over PostgreSQL = ANY, JSON out";

    private static final int NAMES = 50_000;
    private static final int BATCHES = 2_000;

    /** Of healthy clients beside attackers: less than the machine can, or they would slow one another down. */
    private static final int HEALTHY_RATE = 1000;

    private static final int ATTACKERS = 500;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Plan plan;
    private final Consumer<String> progress;
    private final List<Figure> figures = new ArrayList<>();

    /** What can be measured alone. */
    enum Part {
        GET,
        POST,
        LATENCY,
        ATTACK,
        SOAK
    }

    /**
     * How much is measured.
     *
     * @param seconds of each side in each round
     * @param attackSeconds the same beside attackers, whose connections are cut off after 10 s
     * @param rounds after one to warm up; of attacks, half as many
     * @param javaOptions of the resolver's JVM, more than all have
     */
    record Plan(
            int rows,
            int seconds,
            int attackSeconds,
            int rounds,
            long soakRequests,
            List<String> javaOptions,
            Set<Part> parts) {
        boolean has(Part part) {
            return parts.contains(part);
        }
    }

    ResolverBench(Plan plan, Consumer<String> progress) {
        this.plan = plan;
        this.progress = progress;
    }

    /** All that run beside one another. */
    private record Sides(
            MeasuredResolver resolver,
            Wrk wrk,
            Path dir,
            @Nullable RedisSide redis,
            @Nullable PostgresSide postgres) {}

    Report run() throws Exception {
        String machine = Machine.describe();
        progress.accept(machine);
        for (Program program : Program.values()) {
            if (!program.isInstalled()) {
                progress.accept("left out what needs it: " + program.missing());
            }
        }
        figures.add(Figure.alone("identities", "rows", plan.rows));
        try (FreshBroker broker = FreshBroker.start();
                SchemaServer schemas = SchemaServer.start()) {
            Population.publish(broker.bootstrapServers(), 0, plan.rows, 0);
            try (MeasuredResolver resolver = MeasuredResolver.start(broker, schemas, plan.rows, plan.javaOptions)) {
                progress.accept("the resolver holds %,d rows".formatted(plan.rows));
                measure(broker, resolver);
            }
        }
        return new Report("resolver", machine, figures);
    }

    private void measure(FreshBroker broker, MeasuredResolver resolver) throws Exception {
        Wrk wrk = new Wrk(broker.directory("wrk"));
        boolean asks = Program.WRK.isInstalled();
        if (asks && (plan.has(Part.GET) || plan.has(Part.POST))) {
            besideOthers(broker, resolver, wrk);
        }
        if (asks && plan.has(Part.LATENCY)) {
            latency(resolver, wrk);
        }
        if (plan.has(Part.ATTACK)) {
            attack(resolver);
        }
        if (asks && plan.has(Part.SOAK)) {
            figures.addAll(new Soak(plan, broker, resolver, wrk, progress).measure());
        }
    }

    private void besideOthers(FreshBroker broker, MeasuredResolver resolver, Wrk wrk) throws Exception {
        List<String> batches = new Questions(plan.rows).batches(20);
        boolean posts = plan.has(Part.POST);
        try (RedisSide redis = isThere(Program.REDIS_SERVER, Program.REDIS_BENCHMARK)
                        ? RedisSide.start(broker.directory("redis"), plan.rows, itemBytes(resolver, batches))
                        : null;
                PostgresSide postgres = posts && isThere(Program.INITDB) ? PostgresSide.start(plan.rows) : null) {
            progress.accept("the others hold them too");
            Sides sides = new Sides(resolver, wrk, broker.directory("wrk"), redis, postgres);
            if (plan.has(Part.GET)) {
                gets(sides);
            }
            if (posts) {
                posts(sides, batches);
            }
        }
    }

    private static boolean isThere(Program... programs) {
        return List.of(programs).stream().allMatch(Program::isInstalled);
    }

    /** On the average of some batches. */
    private static int itemBytes(MeasuredResolver resolver, List<String> batches) throws IOException {
        long bytes = 0;
        for (String batch : batches) {
            bytes += resolver.ask(HttpSocket.post("/v1/resolve", batch)).body().length;
        }
        return (int) (bytes / batches.size() / Questions.BATCH);
    }

    private void gets(Sides sides) throws Exception {
        int known = plan.rows / 2;
        HttpSocket.Answer answer = sides.resolver.ask(
                HttpSocket.get(Questions.path(Population.puri(known).toString())));
        requireSame("Redis' values", Questions.answer(known), answer.text());
        Path same = Files.write(sides.dir.resolve("answer"), answer.bytes());
        Path requests = sides.wrk.requests(
                "gets",
                new Questions(plan.rows)
                        .names(NAMES).stream()
                                .map(name -> "GET " + Questions.path(name))
                                .toList());
        try (ServerProcess bare = ServerProcess.start(List.of(), Map.of(), "bare", same.toString())) {
            try (HttpSocket socket = new HttpSocket(bare.port())) {
                requireSame(
                        BARE,
                        new String(answer.bytes(), StandardCharsets.UTF_8),
                        new String(socket.ask(HttpSocket.get("/")).bytes(), StandardCharsets.UTF_8));
            }
            Rounds rounds = new Rounds(plan.rounds, progress).run("GETs a second", (round, turn) -> {
                turn.record(OURS, sides.wrk.rate(sides.resolver.port(), requests, plan.seconds));
                turn.record(BARE, sides.wrk.rate(bare.port(), requests, plan.seconds));
                if (sides.redis != null) {
                    turn.record(REDIS_GET, sides.redis.gets(plan.seconds, NAMES));
                }
            });
            figures.add(rounds.figure(GET, "1/s", OURS, BARE, BARE));
            figures.add(figure(rounds, GET_OTHERS, "1/s", REDIS_GET, Program.REDIS_SERVER));
        }
    }

    private void posts(Sides sides, List<String> examples) throws Exception {
        Path requests = sides.wrk.requests(
                "posts",
                new Questions(plan.rows)
                        .batches(BATCHES).stream()
                                .map(batch -> "POST /v1/resolve " + batch)
                                .toList());
        try (ServerProcess overRedis = sides.redis == null ? null : over("redis", sides.redis.port());
                ServerProcess overPostgres = sides.postgres == null ? null : over("postgres", sides.postgres.port())) {
            if (overRedis != null) {
                requireSameAnswers(REDIS_HANDLER, sides.resolver, overRedis, examples);
            }
            if (overPostgres != null) {
                requireSameAnswers(POSTGRES_HANDLER, sides.resolver, overPostgres, examples);
            }
            Rounds rounds = new Rounds(plan.rounds, progress).run("references a second", (round, turn) -> {
                turn.record(OURS, refs(sides.wrk, sides.resolver.port(), requests));
                if (sides.redis != null && overRedis != null) {
                    turn.record(REDIS_MGET, sides.redis.mgets(plan.seconds, BATCHES * Questions.BATCH));
                    turn.record(REDIS_HANDLER, refs(sides.wrk, overRedis.port(), requests));
                }
                if (overPostgres != null) {
                    turn.record(POSTGRES_HANDLER, refs(sides.wrk, overPostgres.port(), requests));
                }
            });
            figures.add(figure(rounds, POST, "refs/s", REDIS_MGET, Program.REDIS_SERVER));
            figures.add(figure(rounds, POST, "refs/s", REDIS_HANDLER, Program.REDIS_SERVER));
            figures.add(figure(rounds, POST, "refs/s", POSTGRES_HANDLER, Program.INITDB));
        }
    }

    private static ServerProcess over(String store, int port) throws IOException {
        return ServerProcess.start(List.of(), Map.of(), store, Integer.toString(port));
    }

    private double refs(Wrk wrk, int port, Path requests) throws IOException, InterruptedException {
        return Questions.BATCH * wrk.rate(port, requests, plan.seconds);
    }

    /** Beside a baseline that need not be there. */
    private static Figure figure(Rounds rounds, String name, String unit, String baseline, Program needs) {
        return rounds.has(baseline)
                ? rounds.figure(name, unit, OURS, baseline, baseline)
                : new Figure(name, unit, rounds.median(OURS), baseline + ": " + needs.missing(), null);
    }

    private static void requireSameAnswers(
            String who, MeasuredResolver resolver, ServerProcess other, List<String> batches) throws IOException {
        try (HttpSocket socket = new HttpSocket(other.port())) {
            for (String batch : batches) {
                byte[] request = HttpSocket.post("/v1/resolve", batch);
                JsonNode ours = MAPPER.readTree(resolver.ask(request).body());
                HttpSocket.Answer answer = socket.ask(request);
                if (answer.status() != 200) {
                    throw new IllegalStateException(who + " answers " + answer.head() + answer.text());
                }
                requireSame(
                        who,
                        ours.toPrettyString(),
                        MAPPER.readTree(answer.body()).toPrettyString());
            }
        }
    }

    /** A baseline that answers something else would be none. */
    private static void requireSame(String who, String ours, String theirs) {
        if (!ours.equals(theirs)) {
            throw new IllegalStateException(who + " is not what we answer:\n" + theirs + "\nbut\n" + ours);
        }
    }

    private void latency(MeasuredResolver resolver, Wrk wrk) throws Exception {
        List<String> batches = new Questions(plan.rows).batches(BATCHES);
        Path requests = wrk.requests(
                "top",
                batches.stream().map(batch -> "POST /v1/resolve " + batch).toList());
        double top = 0;
        for (int round = 0; round <= plan.rounds; round++) {
            top = Math.max(top, wrk.rate(resolver.port(), requests, plan.seconds));
        }
        double rate = top / 2;
        List<byte[]> asked = batches.stream()
                .map(batch -> HttpSocket.post("/v1/resolve", batch))
                .toList();
        Histogram nanos =
                OpenLoop.run(resolver.port(), asked, rate, Duration.ofSeconds((long) plan.seconds * plan.rounds));
        progress.accept(
                "POST of 100 at %,.0f a second, top %,.0f: p50 %.2f, p90 %.2f, p99 %.2f, p99.9 %.2f, max %.1f ms"
                        .formatted(
                                rate,
                                top,
                                millis(nanos, 50),
                                millis(nanos, 90),
                                millis(nanos, 99),
                                millis(nanos, 99.9),
                                millis(nanos, 100)));
        figures.add(Figure.alone("POST of 100 at half of the top rate", "1/s", rate));
        figures.add(Figure.alone("POST of 100, p50 at half of the top rate", "ms", millis(nanos, 50)));
        figures.add(Figure.alone("POST of 100, p99 at half of the top rate", "ms", millis(nanos, 99)));
    }

    private static double millis(Histogram nanos, double percentile) {
        return nanos.getValueAtPercentile(percentile) / 1e6;
    }

    private void attack(MeasuredResolver resolver) throws Exception {
        Questions questions = new Questions(plan.rows);
        List<byte[]> healthy = new ArrayList<>();
        for (String name : questions.names(NAMES / 10)) {
            healthy.add(HttpSocket.get(Questions.path(name)));
            if (healthy.size() % 10 == 0) {
                healthy.add(HttpSocket.post("/v1/resolve", questions.batch()));
            }
        }
        String name = "p99 of healthy clients, 500 connections with slow ";
        String before = "before";
        Rounds rounds = new Rounds(Math.max(1, plan.rounds / 2), progress)
                .run("p99 of healthy clients, ms", (round, turn) -> {
                    turn.record(before, healthyP99(resolver, healthy));
                    for (SlowClients.Attack attack : SlowClients.Attack.values()) {
                        try (SlowClients slow = new SlowClients(resolver.port(), attack, ATTACKERS)) {
                            turn.record(attack.name(), healthyP99(resolver, healthy));
                            progress.accept("slow %s: %,d were cut off".formatted(attack, slow.cutOff()));
                        }
                    }
                });
        figures.add(rounds.figure(name + "headers", "ms", SlowClients.Attack.HEADERS.name(), before, before));
        figures.add(rounds.figure(name + "bodies", "ms", SlowClients.Attack.BODY.name(), before, before));
    }

    private double healthyP99(MeasuredResolver resolver, List<byte[]> requests) throws Exception {
        return millis(
                OpenLoop.run(resolver.port(), requests, HEALTHY_RATE, Duration.ofSeconds(plan.attackSeconds)), 99);
    }
}
