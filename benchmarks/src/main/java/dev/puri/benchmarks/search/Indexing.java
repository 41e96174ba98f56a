package dev.puri.benchmarks.search;

import dev.puri.benchmarks.data.SearchDocuments;
import dev.puri.benchmarks.environment.TemporaryFolder;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.search.index.Entry;
import dev.puri.search.lucene.BareWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;

/** Measures how fast an index is filled from the topics and rebuilt, and how fast Lucene alone would be. */
record Indexing(SearchBench bench, SearchBench.Topics topics) {
    private static final String OURS = "ours";
    private static final String REBUILT = "rebuilt";
    private static final String BARE = "bare IndexWriter loop, same entries and analyser";
    private static final String BARE_THREADS = BARE + ", as many threads as ours";

    /** As {@code LuceneIndex} writes: a thread for each processor, up to four. */
    private static final int THREADS = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 4);

    /**
     * Adds the figures.
     *
     * @param warm with fewer documents, on which everything runs once before it counts
     */
    void measure(SearchBench.Topics warm) throws Exception {
        List<BareWriter.Item> items = bench.has(SearchBench.Part.INDEX)
                ? LongStream.range(0, topics.documents())
                        .mapToObj(Indexing::item)
                        .toList()
                : List.of();
        Rounds rounds = bench.measureRounds(bench.fills, "documents indexed a second", (round, recorder) -> {
            SearchBench.Topics from = round == 0 ? warm : topics;
            recordOurs(from, recorder);
            if (!items.isEmpty()) {
                List<BareWriter.Item> all = items.subList(0, from.documents());
                recorder.record(BARE, theirs(from, all, 1));
                recorder.record(BARE_THREADS, theirs(from, all, THREADS));
            }
        });
        if (bench.has(SearchBench.Part.INDEX)) {
            rounds.addForEachBaseline("documents indexed/s from the topic", "1/s", OURS, List.of(BARE, BARE_THREADS));
        }
        if (bench.has(SearchBench.Part.REINDEX)) {
            double first = bench.documents / rounds.median(OURS);
            double rebuilt = bench.documents / rounds.median(REBUILT);
            bench.add("reindex of " + bench.documentCountText(), "s", rebuilt, "first indexing", first);
        }
    }

    private static BareWriter.Item item(long number) {
        return new BareWriter.Item(
                SearchDocuments.puri(number),
                new Entry.OfIdentity(SearchDocuments.row(number)),
                new Entry.OfDocument(SearchDocuments.document(number)));
    }

    private void recordOurs(SearchBench.Topics from, Rounds.Recorder recorder) throws Exception {
        System.gc();
        Path state = from.newDirectory("index");
        try (MeasuredIndexer indexer = from.index(state)) {
            recorder.record(OURS, from.documents() / indexer.seconds());
            if (bench.has(SearchBench.Part.REINDEX)) {
                recorder.record(REBUILT, from.documents() / indexer.reindex());
                indexer.requireDocuments(from.documents());
            }
        } finally {
            TemporaryFolder.delete(state);
        }
    }

    private static double theirs(SearchBench.Topics from, List<BareWriter.Item> items, int threads) throws Exception {
        System.gc();
        Path folder = from.newDirectory("bare");
        try {
            return items.size() / BareWriter.fill(folder, items, threads);
        } finally {
            TemporaryFolder.delete(folder);
        }
    }
}
