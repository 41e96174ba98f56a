package dev.puri.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Search beside what Lucene does alone, and how soon what was published is found.
 *
 * <pre>
 * Library ─▶ puri.identities.v1, puri.documents.v1 ─▶ indexer ─▶ another index beside     index, reindex
 *        └──────────────────────────────────────────▶ BareWriter                          in turn
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
final class SearchBench {
    /** Enough for the JVM to compile all that filling an index runs. */
    private static final int WARM_UP = 200_000;

    private static final int MILLION = 1_000_000;

    private final Plan plan;
    private final Consumer<String> progress;
    private final List<Figure> figures = new ArrayList<>();

    /** What can be measured alone. */
    enum Part {
        INDEX,
        REINDEX,
        QUERY,
        FRESH
    }

    /**
     * How much is measured.
     *
     * @param documents as many identities, each with its document
     * @param fills of whole indices, after one to warm up
     * @param queries of one round and side
     * @param rounds of queries, after one to warm up
     * @param seconds of each round over HTTP
     * @param rate events a second, of freshness
     * @param duration of freshness, after a third of it that does not count
     */
    record Plan(
            int documents,
            int fills,
            int queries,
            int rounds,
            int seconds,
            int rate,
            Duration duration,
            Set<Part> parts) {
        boolean has(Part part) {
            return parts.contains(part);
        }

        /** How many there are, for a figure's name. */
        String many() {
            return documents % MILLION == 0
                    ? documents / MILLION + " M documents"
                    : "%,d documents".formatted(documents);
        }
    }

    /** A broker with so many rows and documents, and who tells their schemas. */
    record Topics(FreshBroker broker, SchemaServer schemas, int documents) implements AutoCloseable {
        static Topics of(int documents, Consumer<String> progress) throws Exception {
            FreshBroker broker = FreshBroker.start();
            try {
                long begun = System.nanoTime();
                Library.publish(broker.bootstrapServers(), documents);
                progress.accept("published %,d rows and documents in %.0f s".formatted(documents, Pace.seconds(begun)));
                return new Topics(broker, SchemaServer.start(), documents);
            } catch (Exception e) {
                broker.close();
                throw e;
            }
        }

        Path directory(String name) {
            return broker.directory(name);
        }

        /** Fills an index from them. */
        MeasuredIndexer index(Path state) throws Exception {
            MeasuredIndexer indexer = MeasuredIndexer.start(broker.bootstrapServers(), schemas.url(), state);
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

    SearchBench(Plan plan, Consumer<String> progress) {
        this.plan = plan;
        this.progress = progress;
    }

    Report run() throws Exception {
        String machine = Machine.describe();
        progress.accept(machine);
        figures.add(Figure.alone("documents", "1", plan.documents));
        if (plan.has(Part.INDEX) || plan.has(Part.REINDEX) || plan.has(Part.QUERY)) {
            try (Topics topics = Topics.of(plan.documents, progress)) {
                ofTopics(topics);
            }
        }
        if (plan.has(Part.FRESH)) {
            figures.addAll(new Freshness(plan, progress).measure());
        }
        return new Report("search", machine, figures);
    }

    private void ofTopics(Topics topics) throws Exception {
        if (plan.has(Part.INDEX) || plan.has(Part.REINDEX)) {
            Indexings indexings = new Indexings(plan, topics, progress);
            if (plan.documents <= WARM_UP) {
                figures.addAll(indexings.measure(topics));
            } else {
                try (Topics warm = Topics.of(WARM_UP, progress)) {
                    figures.addAll(indexings.measure(warm));
                }
            }
        }
        if (plan.has(Part.QUERY)) {
            figures.addAll(new Searching(plan, topics, progress).measure());
        }
    }
}
