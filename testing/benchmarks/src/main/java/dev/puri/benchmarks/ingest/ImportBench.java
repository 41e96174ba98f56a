package dev.puri.benchmarks.ingest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.LocalSchemaRegistry;
import dev.puri.benchmarks.environment.RateReader;
import dev.puri.benchmarks.environment.ServerSettings;
import dev.puri.benchmarks.load.HttpSocket;
import dev.puri.benchmarks.report.Bench;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
import dev.puri.cli.imports.Import;
import dev.puri.client.CollectionRegistry;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.registry.RegistryStreams;
import dev.puri.resolver.Resolver;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.collection.WriteMode;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code puri bench import}: how fast {@code puri import} plans, loads and verifies, beside a loop that copies the rows
 * of the same databases into a producer.
 *
 * <pre>
 *   publish    three databases ──▶ plan ◀── resolver, plan ──▶ load ──▶ broker
 *              three databases ──COPY──▶ bare producer ──▶ broker                              alternating
 *
 *   register   the same, with a topology, until the last identity is registered; then verify ◀── resolver
 * </pre>
 *
 * The schema registry and the databases run in separate processes, all else in this process.
 */
@Command(
        name = "import",
        description = {
            "Measures how many rows per second an import of three PostgreSQL databases plans, loads and verifies,",
            "beside a loop that copies the rows into a producer and checks nothing."
        })
public final class ImportBench extends Bench {
    static final String NAMESPACE = "bench";
    static final String COLLECTION = "tracks";
    static final String SOURCE = "bench-import";
    static final Prefix PREFIX = new Prefix("trk");

    private static final Duration STARTUP = Duration.ofSeconds(60);

    private static final String COPY = "COPY into a bare producer of ready events";
    private static final String COPY_AND_ENCODE = "COPY into a bare producer, events made by Avro's writer";
    private static final String IMPORT = "plan and load";
    private static final String PLAN = "plan";
    private static final String LOAD = "load";
    private static final String VERIFY = "verify";
    private static final String PLAN_AGAIN = "plan of registered rows";

    @Option(names = "--rows", description = "Number of rows that are imported.")
    private int rows = 1_000_000;

    @Option(names = "--registered", description = "Number of rows that are imported and registered.")
    private int registered = 300_000;

    @Option(names = "--rounds", description = "Number of rounds, after a warm-up; medians count.")
    private int rounds = 3;

    @Option(names = "--only", split = ",", paramLabel = "PART", description = ONLY)
    private Set<Part> only = EnumSet.allOf(Part.class);

    private enum Part {
        PUBLISH,
        REGISTER
    }

    /** Some rows and where they are published. */
    private record Environment(ImportDatabases databases, ServerSettings settings, CopyLoop loop, int rows) {
        /** Plans and loads, and records the rates of both stages and of their sum. */
        void publishImport(FreshBroker broker, Resolver resolver, Rounds.Recorder recorder) throws Exception {
            Import imports = new Import(broker.newDirectory("import"));
            double planSeconds = plan(imports, broker, resolver);
            double loadSeconds = load(imports, broker);
            recorder.record(IMPORT, rows / (planSeconds + loadSeconds));
            recorder.record(PLAN, rows / planSeconds);
            recorder.record(LOAD, rows / loadSeconds);
        }

        void registerImport(Rounds.Recorder recorder) throws Exception {
            try (FreshBroker broker = new FreshBroker()) {
                settings.declare(broker, collection());
                try (RegistryStreams topology = settings.startTopology(broker);
                        Resolver resolver = settings.startResolver(broker);
                        RateReader reader = new RateReader(broker, Topics.IDENTITIES)) {
                    Import imports = new Import(broker.newDirectory("import"));
                    long startNanos = System.nanoTime();
                    plan(imports, broker, resolver);
                    load(imports, broker);
                    reader.read(rows, () -> !topology.ended().isDone());
                    recorder.record(IMPORT, rows / Timing.seconds(startNanos));
                    recorder.record(VERIFY, rows / verify(imports, resolver));
                    double planSeconds = plan(new Import(broker.newDirectory("import")), broker, resolver);
                    recorder.record(PLAN_AGAIN, rows / planSeconds);
                }
            }
        }

        void registerCopies(Rounds.Recorder recorder) throws Exception {
            try (FreshBroker broker = new FreshBroker()) {
                settings.declare(broker, collection());
                // The resolver reads the identities here too, so that both sides share the machine with one.
                try (RegistryStreams topology = settings.startTopology(broker);
                        Resolver resolver = settings.startResolver(broker);
                        RateReader reader = new RateReader(broker, Topics.IDENTITIES)) {
                    long startNanos = System.nanoTime();
                    loop.sendEvents(broker);
                    reader.read(rows, () -> !topology.ended().isDone() && resolver.isReady());
                    recorder.record(COPY_AND_ENCODE, rows / Timing.seconds(startNanos));
                }
            }
        }

        double perSecond(Callable<Long> loop) throws Exception {
            long startNanos = System.nanoTime();
            long sent = loop.call();
            double seconds = Timing.seconds(startNanos);
            requireAll("sent", sent);
            return sent / seconds;
        }

        private double plan(Import imports, FreshBroker broker, Resolver resolver) throws Exception {
            Path mapping = Files.writeString(broker.directory("mapping.yaml"), mapping(databases));
            long startNanos = System.nanoTime();
            try (ResolverClient client = client(resolver)) {
                Import.PlanResult result = imports.plan(
                        mapping,
                        new Import.RegistryView(
                                declarations(broker), client, Import.collectionsWithRows(stats(resolver))),
                        Map.of(),
                        null,
                        Instant.now(),
                        (done, total) -> {});
                double seconds = Timing.seconds(startNanos);
                requireAll("planned", result.rows());
                return seconds;
            }
        }

        private double load(Import imports, FreshBroker broker) throws Exception {
            long startNanos = System.nanoTime();
            Declarations declarations = declarations(broker);
            try (IdentityPublisher publisher =
                    new IdentityPublisher(settings.client(broker), declarations::ownsTopic)) {
                Import.LoadResult result =
                        imports.load(publisher, declarations, false, null, false, (done, total) -> {});
                double seconds = Timing.seconds(startNanos);
                requireAll("published", result.published());
                return seconds;
            }
        }

        private double verify(Import imports, Resolver resolver) throws Exception {
            try (ResolverClient client = client(resolver)) {
                long startNanos = System.nanoTime();
                Import.VerifyResult result = imports.verify(client, STARTUP, null, Instant.now(), (done, total) -> {});
                double seconds = Timing.seconds(startNanos);
                if (result.differences() > 0) {
                    throw new IllegalStateException(
                            result.differences() + " rows differ: " + imports.differencesFile());
                }
                return seconds;
            }
        }

        private void requireAll(String verb, long count) {
            if (count != rows) {
                throw new IllegalStateException(count + " of " + rows + " rows were " + verb);
            }
        }

        private Declarations declarations(FreshBroker broker) {
            return new CollectionRegistry(settings.client(broker), STARTUP)
                    .read()
                    .declarations();
        }
    }

    @Override
    protected void measure() throws Exception {
        require(rows >= 100 && registered >= 100 && rounds > 0, "needed: at least 100 rows and 1 round");
        try (LocalSchemaRegistry registry = new LocalSchemaRegistry()) {
            if (only.contains(Part.PUBLISH)) {
                try (ImportDatabases databases = new ImportDatabases(rows)) {
                    measurePublished(environment(databases, registry, rows));
                }
            }
            if (only.contains(Part.REGISTER)) {
                try (ImportDatabases databases = new ImportDatabases(registered)) {
                    measureRegistered(environment(databases, registry, registered));
                }
            }
        }
    }

    private static Environment environment(ImportDatabases databases, LocalSchemaRegistry registry, int rows) {
        ServerSettings settings = ServerSettings.of(registry);
        return new Environment(databases, settings, new CopyLoop(databases, settings, registry.eventSchemaId()), rows);
    }

    private void measurePublished(Environment environment) throws Exception {
        List<CopyLoop.Ready> ready = environment.loop().readyEvents();
        Rounds measured = measureRounds(rounds, "rows published, 1/s", (round, recorder) -> {
            try (FreshBroker broker = new FreshBroker()) {
                environment.settings().declare(broker, collection());
                Rounds.measureRotated(
                        round,
                        () -> {
                            try (Resolver resolver = environment.settings().startResolver(broker)) {
                                environment.publishImport(broker, resolver, recorder);
                            }
                        },
                        () -> recorder.record(
                                COPY,
                                environment.perSecond(() -> environment.loop().sendReadyEvents(broker, ready))),
                        () -> recorder.record(
                                COPY_AND_ENCODE,
                                environment.perSecond(() -> environment.loop().sendEvents(broker))));
            }
        });
        for (String stage : List.of(IMPORT, LOAD)) {
            measured.addForEachBaseline("import, " + stage, "rows/s", stage, List.of(COPY, COPY_AND_ENCODE));
        }
        measured.add("import, " + PLAN, "rows/s", PLAN);
    }

    private void measureRegistered(Environment environment) throws Exception {
        Rounds measured = measureRounds(
                rounds,
                "rows registered, 1/s",
                (round, recorder) -> Rounds.measureRotated(
                        round, () -> environment.registerImport(recorder), () -> environment.registerCopies(recorder)));
        measured.add(
                "import, plan and load until all rows are registered",
                "rows/s",
                IMPORT,
                COPY_AND_ENCODE + ", until all are registered",
                COPY_AND_ENCODE);
        measured.add("import, " + VERIFY, "rows/s", VERIFY);
        measured.add("import, " + PLAN_AGAIN, "rows/s", PLAN_AGAIN);
    }

    private static ResolverClient client(Resolver resolver) {
        return ResolverClient.open(ResolverOptions.at("http://127.0.0.1:" + resolver.port())
                .deadline(STARTUP)
                .build());
    }

    private static JsonNode stats(Resolver resolver) throws IOException {
        return new ObjectMapper()
                .readTree(HttpSocket.askOnce(resolver.port(), HttpSocket.get("/v1/stats"))
                        .text());
    }

    private static Collection collection() {
        return new Collection(
                NAMESPACE,
                COLLECTION,
                PREFIX,
                Set.of(),
                false,
                SearchedAttributes.DEFAULT,
                false,
                "Identities of a benchmark.",
                false,
                WriteMode.importBy(SOURCE));
    }

    private static String mapping(ImportDatabases databases) {
        StringBuilder yaml = new StringBuilder("source: " + SOURCE + "\ninputs:\n");
        for (int shard = 0; shard < databases.count(); shard++) {
            yaml.append("""
                  - jdbc: %s
                    query: %s
                    puri: %s:%s:{name}
                    uuid: "{uuid}"
                    owner: catalog
                    shard: br-%d
                    handle: generated
                    attributes: {title: "{title}"}
                """.formatted(databases.url(shard), ImportDatabases.QUERY, NAMESPACE, COLLECTION, shard));
        }
        return yaml.toString();
    }
}
