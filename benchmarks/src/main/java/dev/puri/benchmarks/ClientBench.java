package dev.puri.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The parts that a service embeds, in the order in which an identity passes through them.
 *
 * <pre>
 *   mint       Identities                                                          in turn with the libraries below it
 *   publish    IdentityPublisher ──▶ broker                                        in turn with a bare producer
 *   outbox     Outbox ──▶ PostgreSQL ──▶ OutboxRelay ──▶ broker ──▶ topology ──▶ resolver
 *
 *                                 ┌──▶ GET /v1/export ──▶ nowhere                  export
 *   rows in a topic ──▶ resolver ─┼──▶ ResolverClient                              http, in turn with the JDK's client
 *                  │              └──▶ ResolverClient, cached                      cache, in turn with Caffeine
 *                  └──▶ EmbeddedResolver                                           embedded
 * </pre>
 */
final class ClientBench {
    private static final Set<Part> RESOLVER_PARTS = EnumSet.of(Part.EXPORT, Part.HTTP, Part.CACHE);

    private final Plan plan;
    private final Consumer<String> progress;
    private final List<Figure> figures = new ArrayList<>();

    /** A part that can be measured alone. */
    enum Part {
        MINT,
        PUBLISH,
        OUTBOX,
        EXPORT,
        EMBEDDED,
        HTTP,
        CACHE
    }

    /**
     * How much is measured.
     *
     * @param rows of the resolvers
     * @param rounds after one to warm up
     * @param minted identities of each side in each round
     * @param events published by each side in each round
     * @param backlog events in an outbox before its relay starts, in each round
     * @param rate events a second, for latency through the outbox
     * @param duration of each measurement of that latency, after a third of it that does not count
     * @param lookUps single ones over HTTP of each side in each round
     */
    record Plan(
            int rows,
            int rounds,
            int minted,
            int events,
            int backlog,
            int rate,
            Duration duration,
            int lookUps,
            Set<Part> parts) {
        boolean has(Part part) {
            return parts.contains(part);
        }
    }

    ClientBench(Plan plan, Consumer<String> progress) {
        this.plan = plan;
        this.progress = progress;
    }

    Report run() throws Exception {
        String machine = Machine.describe();
        progress.accept(machine);
        if (plan.has(Part.MINT)) {
            figures.addAll(new MintBench(plan.minted(), plan.rounds(), progress).measure());
        }
        if (plan.has(Part.PUBLISH)) {
            figures.addAll(new PublishBench(plan.events(), plan.rounds(), progress).measure());
        }
        if (plan.has(Part.OUTBOX)) {
            figures.addAll(new OutboxBench(plan, progress).measure());
        }
        boolean hasResolver = RESOLVER_PARTS.stream().anyMatch(plan::has);
        if (hasResolver || plan.has(Part.EMBEDDED)) {
            try (FreshBroker broker = FreshBroker.start();
                    SchemaServer schemas = SchemaServer.start()) {
                Population.publish(broker.bootstrapServers(), 0, plan.rows(), 0);
                if (hasResolver) {
                    try (MeasuredResolver resolver = MeasuredResolver.start(broker, schemas, plan.rows(), List.of())) {
                        measureResolver(resolver);
                    }
                }
                if (plan.has(Part.EMBEDDED)) {
                    figures.addAll(new EmbeddedBench(plan.rows(), plan.rounds(), progress)
                            .measure(broker, schemas, broker.directory("embedded-resolver")));
                }
            }
        }
        return new Report("client", machine, figures);
    }

    private void measureResolver(MeasuredResolver resolver) throws Exception {
        if (plan.has(Part.EXPORT)) {
            figures.addAll(new ExportBench(plan.rows(), plan.rounds(), progress).measure(resolver));
        }
        if (plan.has(Part.HTTP)) {
            figures.addAll(new HttpBench(plan.rows(), plan.lookUps(), plan.rounds(), progress).measure(resolver));
        }
        if (plan.has(Part.CACHE)) {
            figures.addAll(new CacheBench(plan.rows(), plan.rounds(), progress).measure(resolver));
        }
    }
}
