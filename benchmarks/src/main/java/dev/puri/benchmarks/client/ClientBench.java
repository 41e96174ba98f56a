package dev.puri.benchmarks.client;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.SchemaServer;
import dev.puri.benchmarks.report.Bench;
import dev.puri.benchmarks.serve.MeasuredResolver;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code puri bench client}: the parts that a service embeds, in the order in which an identity passes through them.
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
@Command(
        name = "client",
        description = {
            "How fast a service mints, publishes, and publishes through its own database, how soon others resolve that,",
            "and how fast it looks up: in its own process, over HTTP, and in the resolver client's cache.",
            "Also how long an export of all rows takes over HTTP, and how large it is."
        })
public final class ClientBench extends Bench {
    @Option(names = "--rows", description = "Identities that are looked up and exported.")
    int rows = 1_000_000;

    @Option(names = "--rounds", description = "Rounds after one to warm up; medians count.")
    int rounds = 5;

    @Option(names = "--minted", paramLabel = "IDENTITIES", description = "Minted by each side in each round.")
    int minted = 500_000;

    @Option(names = "--events", description = "Published by each side in each round.")
    int events = 500_000;

    @Option(
            names = "--backlog",
            paramLabel = "EVENTS",
            description = "In an outbox before its relay starts, in each round.")
    int backlog = 20_000;

    @Option(names = "--rate", description = "Transactions a second until their events are resolvable.")
    int rate = 100;

    @Option(
            names = "--seconds",
            description = {
                "How long each of three sides commits them in each of four rounds,",
                "after a third of it to warm up."
            })
    int seconds = 20;

    @Option(
            names = "--look-ups",
            paramLabel = "LOOKUPS",
            description = "Over HTTP by each side in each round; a tenth as many batches.")
    int lookUps = 10_000;

    @Option(names = "--only", split = ",", paramLabel = "PART", description = ONLY)
    private Set<Part> only = EnumSet.allOf(Part.class);

    private enum Part {
        MINT,
        PUBLISH,
        OUTBOX,
        EXPORT,
        EMBEDDED,
        HTTP,
        CACHE
    }

    private boolean has(Part part) {
        return only.contains(part);
    }

    @Override
    protected void measure() throws Exception {
        boolean isEnough = rows >= 1000 && backlog >= 3000 && lookUps >= 10;
        require(
                isEnough && rounds > 0 && minted > 0 && events > 0 && rate > 0 && seconds > 0,
                "at least 1000 rows, a backlog of 3000, 10 look-ups, and 1 of all others");
        if (has(Part.MINT)) {
            new MintBench(this).measure();
        }
        if (has(Part.PUBLISH)) {
            new PublishBench(this).measure();
        }
        if (has(Part.OUTBOX)) {
            new OutboxBench(this).measure();
        }
        boolean hasResolver = has(Part.EXPORT) || has(Part.HTTP) || has(Part.CACHE);
        if (hasResolver || has(Part.EMBEDDED)) {
            try (FreshBroker broker = new FreshBroker();
                    SchemaServer schemas = new SchemaServer()) {
                Population.publish(broker.bootstrapServers(), 0, rows, 0);
                if (hasResolver) {
                    measureResolver(broker, schemas);
                }
                if (has(Part.EMBEDDED)) {
                    new EmbeddedBench(this).measure(broker, schemas);
                }
            }
        }
    }

    private void measureResolver(FreshBroker broker, SchemaServer schemas) throws Exception {
        try (MeasuredResolver resolver = MeasuredResolver.start(broker, schemas, rows, List.of())) {
            if (has(Part.EXPORT)) {
                new ExportBench(this, resolver).measure();
            }
            if (has(Part.HTTP)) {
                new HttpBench(this, resolver).measure();
            }
            if (has(Part.CACHE)) {
                new CacheBench(this, resolver).measure();
            }
        }
    }
}
