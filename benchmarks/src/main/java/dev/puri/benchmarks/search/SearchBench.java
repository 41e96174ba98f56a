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
 * {@code puri bench search}: search beside Lucene alone, and how soon an identity is found after its publication.
 *
 * <pre>
 * SearchDocuments ─▶ puri.identities.v1, puri.documents.v1 ─▶ indexer ─▶ rebuilt index          index, reindex
 *                └──────────────────────────────────────────▶ BareWriter                       in turn
 *
 *                                                     indexer ─▶ its index ◀─ SearchIndex.search     query
 *                                                        ▲                 ◀─ BareSearcher           in turn
 *                                                        └─ wrk
 *
 * publisher at a fixed rate ─▶ topology ─▶ indexer ◀─ GET /v1/search until it is found    fresh
 * </pre>
 *
 * All in this process, but for wrk and the schema registry.
 */
@Command(
        name = "search",
        description = {
            "How fast documents are indexed and found beside Lucene alone, how long another index takes to be built,",
            "and how soon what was published is found. Needs wrk for searches over HTTP."
        })
public final class SearchBench extends Bench {
    /** Enough for the JVM to compile all that filling an index runs. */
    private static final int WARM_UP = 200_000;

    private static final int MILLION = 1_000_000;

    @Option(names = "--documents", description = "Documents.")
    int documents = MILLION;

    @Option(names = "--fills", description = "Times that indices are filled after one to warm up; medians count.")
    int fills = 3;

    @Option(names = "--queries", description = "Queries of each side in each round.")
    int queries = 1000;

    @Option(names = "--rounds", description = "Rounds of queries after one to warm up; medians count.")
    int rounds = 5;

    @Option(names = "--seconds", description = "Of each round over HTTP.")
    int seconds = 5;

    @Option(names = "--rate", description = "Events a second until they are found.")
    int rate = 500;

    @Option(
            names = "--fresh-seconds",
            paramLabel = "SECONDS",
            description = "How long they are published, after a third of it to warm up.")
    int freshSeconds = 30;

    @Option(names = "--only", split = ",", paramLabel = "PART", description = ONLY)
    private Set<Part> only = EnumSet.allOf(Part.class);

    enum Part {
        INDEX,
        REINDEX,
        QUERY,
        FRESH
    }

    boolean has(Part part) {
        return only.contains(part);
    }

    /** Returns the number of documents, for a figure's name. */
    String documentCountText() {
        return documents % MILLION == 0 ? documents / MILLION + " M documents" : "%,d documents".formatted(documents);
    }

    /** A broker with rows and documents, and a server that has their schemas. */
    record Topics(FreshBroker broker, SchemaServer schemas, int documents) implements AutoCloseable {
        Path newDirectory(String name) {
            return broker.newDirectory(name);
        }

        /** Fills an index from them. */
        MeasuredIndexer index(Path state) throws IOException {
            MeasuredIndexer indexer = new MeasuredIndexer(broker.bootstrapServers(), schemas.url(), state);
            try {
                indexer.requireDocuments(documents);
                return indexer;
            } catch (IOException | RuntimeException e) {
                indexer.close();
                throw e;
            }
        }

        @Override
        public void close() {
            schemas.close();
            broker.close();
        }
    }

    private Topics topics(int documents) throws Exception {
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
                "at least 1000 documents, 20 queries, and 1 of all others");
        add("documents", "1", documents);
        if (has(Part.INDEX) || has(Part.REINDEX) || has(Part.QUERY)) {
            try (Topics topics = topics(documents)) {
                measure(topics);
            }
        }
        if (has(Part.FRESH)) {
            new PublishedToSearchable(this).measure();
        }
    }

    private void measure(Topics topics) throws Exception {
        if (has(Part.INDEX) || has(Part.REINDEX)) {
            Indexing indexing = new Indexing(this, topics);
            if (documents <= WARM_UP) {
                indexing.measure(topics);
            } else {
                try (Topics warm = topics(WARM_UP)) {
                    indexing.measure(warm);
                }
            }
        }
        if (has(Part.QUERY)) {
            new Queries(this, topics).measure();
        }
    }
}
