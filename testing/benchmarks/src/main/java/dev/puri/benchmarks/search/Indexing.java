package dev.puri.benchmarks.search;

import dev.puri.benchmarks.data.SearchDocuments;
import dev.puri.benchmarks.environment.TemporaryFolder;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.search.lucene.BareWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;

/** Measures how fast an indexer fills and rebuilds its index, compared with Lucene alone. */
record Indexing(SearchBench bench, SearchBench.Topics topics) {
    private static final String OURS = "ours";
    private static final String REBUILT = "rebuilt";
    private static final String BARE = "bare IndexWriter loop, same entries and analyser";
    private static final String BARE_THREADS = BARE + ", as many threads as ours";

    /** The number of threads of {@code LuceneIndex}: one per processor, up to four. */
    private static final int THREADS = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 4);

    /**
     * Adds the figures.
     *
     * @param warmUp topics for the warm-up, which may have fewer documents
     */
    void measure(SearchBench.Topics warmUp) throws Exception {
        List<BareWriter.Item> items = bench.only.contains(SearchBench.Part.INDEX)
                ? LongStream.range(0, topics.documents())
                        .mapToObj(Indexing::item)
                        .toList()
                : List.of();
        Rounds rounds = bench.measureRounds(bench.fills, "documents indexed a second", (round, recorder) -> {
            SearchBench.Topics source = round == 0 ? warmUp : topics;
            recordOurs(source, recorder);
            if (!items.isEmpty()) {
                List<BareWriter.Item> sourceItems = items.subList(0, source.documents());
                recorder.record(BARE, bareRate(source, sourceItems, 1));
                recorder.record(BARE_THREADS, bareRate(source, sourceItems, THREADS));
            }
        });
        if (bench.only.contains(SearchBench.Part.INDEX)) {
            rounds.addForEachBaseline("documents indexed/s from the topic", "1/s", OURS, List.of(BARE, BARE_THREADS));
        }
        if (bench.only.contains(SearchBench.Part.REINDEX)) {
            double first = bench.documents / rounds.median(OURS);
            double rebuilt = bench.documents / rounds.median(REBUILT);
            bench.add("reindex of " + bench.documentCountText(), "s", rebuilt, "first indexing", first);
        }
    }

    private static BareWriter.Item item(long number) {
        return new BareWriter.Item(
                SearchDocuments.puri(number), SearchDocuments.row(number), SearchDocuments.document(number));
    }

    private void recordOurs(SearchBench.Topics source, Rounds.Recorder recorder) throws Exception {
        System.gc();
        Path state = source.newDirectory("index");
        try (MeasuredIndexer indexer = source.startIndexer(state)) {
            recorder.record(OURS, source.documents() / indexer.fillSeconds());
            if (bench.only.contains(SearchBench.Part.REINDEX)) {
                recorder.record(REBUILT, source.documents() / indexer.reindex());
                indexer.requireDocuments(source.documents());
            }
        } finally {
            TemporaryFolder.delete(state);
        }
    }

    private static double bareRate(SearchBench.Topics source, List<BareWriter.Item> items, int threads)
            throws Exception {
        System.gc();
        Path folder = source.newDirectory("bare");
        try {
            return items.size() / BareWriter.fill(folder, items, threads);
        } finally {
            TemporaryFolder.delete(folder);
        }
    }
}
