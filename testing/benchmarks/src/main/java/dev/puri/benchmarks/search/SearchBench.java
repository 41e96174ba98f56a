package dev.puri.benchmarks.search;

import dev.puri.benchmarks.data.SearchDocuments;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.SchemaServer;
import dev.puri.benchmarks.report.Bench;
import dev.puri.benchmarks.report.Timing;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code puri bench search}: indexing and searching, compared with Lucene alone, and the time from an identity's
 * publication until it is found.
 *
 * <pre>
 * SearchDocuments ─▶ puri.identities.v1, puri.documents.v1 ─▶ indexer ─▶ rebuilt index          index, reindex
 *                └──────────────────────────────────────────▶ BareWriter                       alternating
 *
 *                                                     indexer ─▶ its index ◀─ SearchIndex.search     query
 *                                                        ▲                 ◀─ BareSearcher           alternating
 *                                                        └─ wrk
 *
 * publisher at a fixed rate ─▶ topology ─▶ indexer ◀─ GET /v1/search until it is found    fresh
 * </pre>
 *
 * Everything but wrk and the schema registry runs in this process.
 */
@Command(
        name = "search",
        description = {
            "Measures how fast documents are indexed and found, compared with Lucene alone, how long a rebuild of the",
            "index takes, and how soon a published identity is found. Needs wrk for searches over HTTP."
        })
public final class SearchBench extends Bench {
    /** Number of documents after which the JVM has compiled the code of indexing. */
    private static final int WARM_UP_DOCUMENTS = 200_000;

    private static final int MILLION = 1_000_000;

    @Option(names = "--documents", description = "Number of documents.")
    int documents = MILLION;

    @Option(names = "--fills", description = "Number of times that an index is filled, after a warm-up; medians count.")
    int fills = 3;

    @Option(names = "--queries", description = "Number of queries of each side in each round.")
    int queries = 1000;

    @Option(names = "--rounds", description = "Number of rounds of queries, after a warm-up; medians count.")
    int rounds = 5;

    @Option(names = "--seconds", description = "Duration of each round over HTTP.")
    int seconds = 5;

    @Option(names = "--rate", description = "Events per second that are published and searched for.")
    int rate = 500;

    @Option(
            names = "--fresh-seconds",
            paramLabel = "SECONDS",
            description = "How long events are published, after a warm-up of a third of it.")
    int freshSeconds = 30;

    @Option(names = "--only", split = ",", paramLabel = "PART", description = ONLY)
    Set<Part> only = EnumSet.allOf(Part.class);

    enum Part {
        INDEX,
        REINDEX,
        QUERY,
        FRESH
    }

    /** Returns the number of documents, for the name of a figure. */
    String documentCountText() {
        return documents % MILLION == 0 ? documents / MILLION + " M documents" : "%,d documents".formatted(documents);
    }

    /** A broker with rows and documents, and a server with their schemas. */
    record Topics(FreshBroker broker, SchemaServer schemas, int documents) implements AutoCloseable {
        Path newDirectory(String name) {
            return broker.newDirectory(name);
        }

        /** Starts an indexer that fills an index from the topics. */
        MeasuredIndexer startIndexer(Path state) throws IOException {
            return new MeasuredIndexer(broker.bootstrapServers(), schemas.url(), state, documents);
        }

        @Override
        public void close() {
            schemas.close();
            broker.close();
        }
    }

    private Topics fillTopics(int documents) throws Exception {
        long startNanos = System.nanoTime();
        FreshBroker filled =
                FreshBroker.filled(broker -> SearchDocuments.publish(broker.bootstrapServers(), documents));
        progress("published %,d rows and documents in %.0f s".formatted(documents, Timing.seconds(startNanos)));
        return new Topics(filled, new SchemaServer(), documents);
    }

    @Override
    protected void measure() throws Exception {
        boolean isEnough = documents >= 1000 && queries >= 20;
        require(
                isEnough && fills > 0 && rounds > 0 && seconds > 0 && rate > 0 && freshSeconds > 0,
                "needed: at least 1000 documents, 20 queries, and 1 for each other number");
        add("documents", "1", documents);
        if (only.contains(Part.INDEX) || only.contains(Part.REINDEX) || only.contains(Part.QUERY)) {
            try (Topics topics = fillTopics(documents)) {
                measure(topics);
            }
        }
        if (only.contains(Part.FRESH)) {
            new PublishedToSearchable(this).measure();
        }
    }

    private void measure(Topics topics) throws Exception {
        if (only.contains(Part.INDEX) || only.contains(Part.REINDEX)) {
            Indexing indexing = new Indexing(this, topics);
            if (documents <= WARM_UP_DOCUMENTS) {
                indexing.measure(topics);
            } else {
                try (Topics warmUp = fillTopics(WARM_UP_DOCUMENTS)) {
                    indexing.measure(warmUp);
                }
            }
        }
        if (only.contains(Part.QUERY)) {
            new Queries(this, topics).measure();
        }
    }
}
