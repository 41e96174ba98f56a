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
 * {@code puri bench client}: the libraries that a service embeds, in the order in which it uses them for an identity.
 *
 * <pre>
 *   mint       Identities                                                         alternating with its libraries
 *   publish    IdentityPublisher ──▶ broker                                        alternating with a bare producer
 *   outbox     Outbox ──▶ PostgreSQL ──▶ OutboxRelay ──▶ broker ──▶ topology ──▶ resolver
 *
 *                                 ┌──▶ GET /v1/export ──▶ nowhere                 export
 *   rows in a topic ──▶ resolver ─┼──▶ ResolverClient                             http, alternating with Java's client
 *                  │              └──▶ ResolverClient, cached                     cache, alternating with Caffeine
 *                  └──▶ EmbeddedResolver                                          embedded
 * </pre>
 */
@Command(
        name = "client",
        description = {
            "Measures how fast a service mints and publishes, also through an outbox in its database, how soon the",
            "identities are resolvable, and how fast the service looks them up: in its own process, over HTTP,",
            "and in the cache of the resolver client. Also measures the time and the size of an export over HTTP."
        })
public final class ClientBench extends Bench {
    @Option(names = "--rows", description = "Number of identities that are looked up and exported.")
    int rows = 1_000_000;

    @Option(names = "--rounds", description = "Number of rounds, after a warm-up; medians count.")
    int rounds = 5;

    @Option(
            names = "--minted",
            paramLabel = "IDENTITIES",
            description = "Number of identities that each side mints in each round.")
    int minted = 500_000;

    @Option(names = "--events", description = "Number of events that each side publishes in each round.")
    int events = 500_000;

    @Option(
            names = "--backlog",
            paramLabel = "EVENTS",
            description = "Number of events in an outbox when its relay starts, in each round.")
    int backlog = 20_000;

    @Option(names = "--rate", description = "Transactions per second, for the time until their events are resolvable.")
    int rate = 100;

    @Option(
            names = "--seconds",
            description = {
                "How long each of three sides commits transactions in each of four rounds,",
                "after a warm-up of a third of it."
            })
    int seconds = 20;

    @Option(
            names = "--look-ups",
            paramLabel = "LOOKUPS",
            description =
                    "Number of look-ups over HTTP of each side in each round; the number of batches is a tenth of it.")
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

    @Override
    protected void measure() throws Exception {
        boolean isEnough = rows >= 1000 && backlog >= 3000 && lookUps >= 10;
        require(
                isEnough && rounds > 0 && minted > 0 && events > 0 && rate > 0 && seconds > 0,
                "needed: at least 1000 rows, a backlog of 3000, 10 look-ups, and 1 for each other number");
        if (only.contains(Part.MINT)) {
            new MintBench(this).measure();
        }
        if (only.contains(Part.PUBLISH)) {
            new PublishBench(this).measure();
        }
        if (only.contains(Part.OUTBOX)) {
            new OutboxBench(this).measure();
        }
        boolean needsResolver = only.contains(Part.EXPORT) || only.contains(Part.HTTP) || only.contains(Part.CACHE);
        if (needsResolver || only.contains(Part.EMBEDDED)) {
            try (FreshBroker broker = new FreshBroker();
                    SchemaServer schemas = new SchemaServer()) {
                Population.publish(broker.bootstrapServers(), 0, rows, 0);
                if (needsResolver) {
                    measureResolver(broker, schemas);
                }
                if (only.contains(Part.EMBEDDED)) {
                    new EmbeddedBench(this).measure(broker, schemas);
                }
            }
        }
    }

    private void measureResolver(FreshBroker broker, SchemaServer schemas) throws Exception {
        try (MeasuredResolver resolver = MeasuredResolver.start(broker, schemas, rows, List.of())) {
            if (only.contains(Part.EXPORT)) {
                new ExportBench(this, resolver).measure();
            }
            if (only.contains(Part.HTTP)) {
                new HttpBench(this, resolver).measure();
            }
            if (only.contains(Part.CACHE)) {
                new CacheBench(this, resolver).measure();
            }
        }
    }
}
