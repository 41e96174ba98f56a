package dev.puri.benchmarks;

import dev.puri.embedded.EmbeddedRegistry;
import dev.puri.registry.RegistrySchemas;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * From an event's publication to its row: how many, and how soon.
 *
 * <pre>
 *   throughput   events, laid up before ──▶ topology ──▶ identities ──▶ a consumer that counts
 *                events, as many bytes  ──▶ bare job ──▶ identities ──▶ a consumer that counts      in turn
 *
 *   latency      publisher at a fixed rate ──▶ topology ──▶ resolver ◀── GET by pURI until it is found
 * </pre>
 *
 * The schema registry has a process of its own, and so has each side of throughput; latency is measured in this one.
 */
final class Ingest {
    /** A part that can be run alone. */
    enum Part {
        THROUGHPUT,
        LATENCY
    }

    /**
     * How much to measure.
     *
     * @param events in each round
     * @param forks processes of each side, for throughput
     * @param warmUp rounds of each process that do not count
     * @param rounds of each process that do
     * @param rate events a second, for latency
     * @param duration of each measurement of latency, after a third of it that does not count
     * @param commitInterval of the topology and the bare job; the topology's default when empty
     * @param only null for both parts
     */
    record Plan(
            int events,
            int forks,
            int warmUp,
            int rounds,
            int rate,
            Duration duration,
            Optional<Duration> commitInterval,
            @Nullable Part only) {
        boolean has(Part part) {
            return only == null || only == part;
        }
    }

    private final Plan plan;
    private final Consumer<String> progress;

    /**
     * @param progress told in a line what goes on
     */
    Ingest(Plan plan, Consumer<String> progress) {
        this.plan = plan;
        this.progress = progress;
    }

    Report run() throws Exception {
        String machine = Machine.describe();
        progress.accept(machine);
        List<Figure> figures = new ArrayList<>();
        Path directory = FreshBroker.newDirectory();
        try (EmbeddedRegistry registry = EmbeddedRegistry.start(directory, 0)) {
            int schemaId = registerSchemas(registry.url());
            Configuration configuration = new Configuration(registry.url(), plan.commitInterval());
            if (plan.has(Part.THROUGHPUT)) {
                ThroughputSide.Task task = new ThroughputSide.Task(
                        plan.events(),
                        schemaId,
                        registry.url(),
                        plan.commitInterval().map(Duration::toMillis).orElse(null),
                        plan.warmUp() + plan.rounds(),
                        null);
                figures.addAll(new Throughput(task, plan.warmUp(), progress).measure(plan.forks()));
            }
            if (plan.has(Part.LATENCY)) {
                figures.addAll(new Latency(configuration, plan.rate(), plan.duration(), progress).measure());
            }
        } finally {
            FreshBroker.delete(directory);
        }
        return new Report("ingest", machine, figures);
    }

    /** Returns the id of the events' schema. */
    static int registerSchemas(String url) {
        try (ConfluentSchemaRegistry registry = ConfluentSchemaRegistry.create(Map.of("schema.registry.url", url))) {
            return Objects.requireNonNull(
                    RegistrySchemas.register(registry, Set.of()).get(Topics.EVENTS + "-value"));
        }
    }
}
