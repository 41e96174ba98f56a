package dev.puri.benchmarks;

import dev.puri.search.index.Entry;
import dev.puri.search.lucene.BareWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.LongStream;

/** How fast an index is filled from the topics, and again beside itself, and how fast Lucene alone would be. */
final class Indexings {
    private static final String OURS = "ours";
    private static final String AGAIN = "reindexed";
    private static final String BARE = "bare IndexWriter loop, same entries and analyser";

    /** As {@code LuceneIndex} writes: a thread for each processor, up to four. */
    private static final int THREADS = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 4);

    private static final String BARE_THREADS = BARE + ", as many threads as ours";

    private final SearchBench.Plan plan;
    private final SearchBench.Topics topics;
    private final Consumer<String> progress;
    private int made;

    Indexings(SearchBench.Plan plan, SearchBench.Topics topics, Consumer<String> progress) {
        this.plan = plan;
        this.topics = topics;
        this.progress = progress;
    }

    /**
     * @param warm with fewer documents, on which everything runs once before it counts
     */
    List<Figure> measure(SearchBench.Topics warm) throws Exception {
        List<BareWriter.Item> items = plan.has(SearchBench.Part.INDEX)
                ? LongStream.range(0, topics.documents())
                        .mapToObj(Indexings::item)
                        .toList()
                : List.of();
        Rounds rounds = new Rounds(plan.fills(), progress).run("documents indexed a second", (round, turn) -> {
            SearchBench.Topics from = round == 0 ? warm : topics;
            ours(from, turn);
            if (!items.isEmpty()) {
                List<BareWriter.Item> all = items.subList(0, from.documents());
                turn.record(BARE, theirs(from, all, 1));
                turn.record(BARE_THREADS, theirs(from, all, THREADS));
            }
        });
        List<Figure> figures = new ArrayList<>();
        if (plan.has(SearchBench.Part.INDEX)) {
            for (String baseline : List.of(BARE, BARE_THREADS)) {
                figures.add(rounds.figure("documents indexed/s from the topic", "1/s", OURS, baseline, baseline));
            }
        }
        if (plan.has(SearchBench.Part.REINDEX)) {
            figures.add(new Figure(
                    "reindex of " + plan.many(),
                    "s",
                    plan.documents() / rounds.median(AGAIN),
                    "first indexing",
                    plan.documents() / rounds.median(OURS)));
        }
        return figures;
    }

    private static BareWriter.Item item(long number) {
        return new BareWriter.Item(
                Library.puri(number),
                new Entry.OfIdentity(Library.row(number)),
                new Entry.OfDocument(Library.document(number)));
    }

    private void ours(SearchBench.Topics from, Rounds.Turn turn) throws Exception {
        System.gc();
        Path state = from.directory("index" + made++);
        try (MeasuredIndexer indexer = from.index(state)) {
            turn.record(OURS, from.documents() / indexer.seconds());
            if (plan.has(SearchBench.Part.REINDEX)) {
                turn.record(AGAIN, from.documents() / indexer.reindex());
                indexer.requireDocuments(from.documents());
            }
        } finally {
            FreshBroker.delete(state);
        }
    }

    private double theirs(SearchBench.Topics from, List<BareWriter.Item> items, int threads) throws Exception {
        System.gc();
        Path folder = from.directory("bare" + made++);
        try {
            return items.size() / BareWriter.fill(folder, items, threads);
        } finally {
            FreshBroker.delete(folder);
        }
    }
}
