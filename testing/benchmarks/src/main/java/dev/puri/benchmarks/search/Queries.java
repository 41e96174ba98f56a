package dev.puri.benchmarks.search;

import dev.puri.benchmarks.environment.Program;
import dev.puri.benchmarks.environment.TemporaryFolder;
import dev.puri.benchmarks.load.Wrk;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
import dev.puri.search.index.Cursor;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.index.SearchResult;
import dev.puri.search.lucene.BareSearcher;
import dev.puri.search.lucene.LuceneStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Measures the rate of the same queries on the same index: by {@code SearchIndex}, by Lucene alone, and over HTTP. */
record Queries(SearchBench bench, SearchBench.Topics topics) {
    private static final String OURS = "ours";
    private static final String BARE = "bare IndexSearcher, same query made beforehand, hits left as numbers";
    private static final String BARE_ALL = "bare IndexSearcher, same query made each time, hits' stored bytes read";

    void measure() throws Exception {
        String name = "mixed query with facets, " + bench.documentCountText() + ", queries/s";
        String overHttp = name + ", over HTTP, 32 connections";
        List<String> texts = MixedQueries.of(bench.queries, bench.documents);
        Path state = topics.newDirectory("searched");
        @Nullable Rounds http = null;
        try (MeasuredIndexer indexer = topics.startIndexer(state)) {
            if (Program.WRK.isInstalled()) {
                http = measureHttp(overHttp, indexer, texts);
            } else {
                bench.progress("left out what needs it: " + Program.WRK.notInstalledMessage());
            }
        }
        Path current = currentFile(state);
        try (LuceneStore store =
                        new LuceneStore(Objects.requireNonNull(current.getParent()), new CursorSeal(new byte[32]));
                BareSearcher bare = BareSearcher.open(current.resolveSibling(Files.readString(current)))) {
            measureWithBaselines(name, store.openServing(), bare, texts);
        }
        if (http != null) {
            http.add(overHttp, "1/s", overHttp);
        }
        TemporaryFolder.delete(state);
    }

    /** Returns the file in the indexer's folder that contains the name of the serving index. */
    private static Path currentFile(Path state) throws IOException {
        try (Stream<Path> files = Files.walk(state)) {
            return files.filter(file -> file.endsWith("current")).findAny().orElseThrow();
        }
    }

    private Rounds measureHttp(String name, MeasuredIndexer indexer, List<String> texts) throws Exception {
        Wrk wrk = new Wrk(topics.newDirectory("wrk"));
        Path requests = wrk.requests(
                "searches",
                texts.stream().map(text -> "GET " + MixedQueries.path(text)).toList());
        return bench.measureRounds(
                bench.rounds,
                "searches a second",
                (round, recorder) -> recorder.record(name, wrk.rate(indexer.port(), requests, bench.seconds)));
    }

    private void measureWithBaselines(String name, SearchIndex index, BareSearcher bare, List<String> texts)
            throws Exception {
        List<SearchQuery> queries = texts.stream().map(MixedQueries::query).toList();
        List<BareSearcher.Prepared> prepared = new ArrayList<>();
        long[] totals = new long[queries.size()];
        for (int i = 0; i < totals.length; i++) {
            prepared.add(bare.prepare(queries.get(i)));
            totals[i] = requireSame(index.search(queries.get(i)), bare, prepared.get(i), texts.get(i));
        }
        Rounds rounds = bench.measureRounds(bench.rounds, "queries a second", (round, recorder) -> {
            recorder.record(OURS, Timing.perSecond(totals.length, i -> total(index, queries.get(i)) == totals[i]));
            recorder.record(
                    BARE,
                    Timing.perSecond(
                            totals.length, i -> search(bare, prepared.get(i)).total() == totals[i]));
            recorder.record(BARE_ALL, Timing.perSecond(totals.length, i -> readAll(bare, queries.get(i)) == totals[i]));
        });
        rounds.addForEachBaseline(name, "1/s", OURS, List.of(BARE, BARE_ALL));
    }

    /** Checks that the baseline finds the same hits, and returns their number. */
    private static long requireSame(SearchResult ours, BareSearcher bare, BareSearcher.Prepared prepared, String text)
            throws IOException {
        BareSearcher.Found found = bare.search(prepared);
        List<String> puris =
                ours.hits().stream().map(hit -> hit.puri().toString()).toList();
        if (ours.total() != found.total() || !puris.equals(bare.puris(found))) {
            throw new IllegalStateException("the bare searcher finds other hits for " + text);
        }
        return ours.total();
    }

    private static long total(SearchIndex index, SearchQuery query) {
        try {
            return index.search(query).total();
        } catch (IndexUnavailableException | Cursor.InvalidException e) {
            throw new IllegalStateException(e);
        }
    }

    private static BareSearcher.Found search(BareSearcher bare, BareSearcher.Prepared prepared) {
        try {
            return bare.search(prepared);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long readAll(BareSearcher bare, SearchQuery query) {
        try {
            BareSearcher.Found found = bare.search(bare.prepare(query));
            return bare.read(found) >= 0 ? found.total() : -1;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
