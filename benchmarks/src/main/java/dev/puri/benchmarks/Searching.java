package dev.puri.benchmarks;

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
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The same queries on the same index: through our index, by Lucene alone, and over HTTP. */
final class Searching {
    private static final String OURS = "ours";
    private static final String BARE = "bare IndexSearcher, same query made beforehand, hits left as numbers";
    private static final String BARE_ALL = "bare IndexSearcher, same query made each time, hits' stored bytes read";
    private static final String HTTP = "over HTTP";

    private final SearchBench.Plan plan;
    private final SearchBench.Topics topics;
    private final Consumer<String> progress;
    private final String name;
    private final List<Figure> figures = new ArrayList<>();

    Searching(SearchBench.Plan plan, SearchBench.Topics topics, Consumer<String> progress) {
        this.plan = plan;
        this.topics = topics;
        this.progress = progress;
        this.name = "mixed query with facets, " + plan.many() + ", queries/s";
    }

    List<Figure> measure() throws Exception {
        List<String> texts = MixedQueries.of(plan.queries(), plan.documents());
        Path state = topics.directory("searched");
        List<Figure> overHttp = new ArrayList<>();
        try (MeasuredIndexer indexer = topics.index(state)) {
            if (Program.WRK.isInstalled()) {
                overHttp.add(Figure.alone(name + ", over HTTP, 32 connections", "1/s", http(indexer, texts)));
            } else {
                progress.accept("left out what needs it: " + Program.WRK.missing());
            }
        }
        Path current = current(state);
        try (LuceneStore home = new LuceneStore(parent(current), new CursorSeal(new byte[32]));
                BareSearcher bare = BareSearcher.open(current.resolveSibling(Files.readString(current)))) {
            beside(home.serving(), bare, texts);
        }
        figures.addAll(overHttp);
        FreshBroker.delete(state);
        return figures;
    }

    /** The file that names the index, wherever the indexer keeps it in its folder. */
    private static Path current(Path state) throws IOException {
        try (Stream<Path> files = Files.walk(state)) {
            return files.filter(file -> file.endsWith("current")).findAny().orElseThrow();
        }
    }

    private static Path parent(Path file) {
        Path parent = file.getParent();
        if (parent == null) {
            throw new IllegalArgumentException(file + " is in no folder");
        }
        return parent;
    }

    private double http(MeasuredIndexer indexer, List<String> texts) throws Exception {
        Wrk wrk = new Wrk(topics.directory("wrk"));
        Path requests = wrk.requests(
                "searches",
                texts.stream().map(text -> "GET " + MixedQueries.path(text)).toList());
        Rounds rounds = new Rounds(plan.rounds(), progress)
                .run(
                        "searches a second over HTTP",
                        (round, turn) -> turn.record(HTTP, wrk.rate(indexer.port(), requests, plan.seconds())));
        return rounds.median(HTTP);
    }

    private void beside(SearchIndex index, BareSearcher bare, List<String> texts) throws Exception {
        List<SearchQuery> queries = texts.stream().map(MixedQueries::query).toList();
        List<BareSearcher.Prepared> prepared = new ArrayList<>();
        long[] totals = new long[queries.size()];
        for (int i = 0; i < totals.length; i++) {
            prepared.add(bare.prepare(queries.get(i)));
            totals[i] = requireSame(index.search(queries.get(i)), bare, prepared.get(i), texts.get(i));
        }
        Rounds rounds = new Rounds(plan.rounds(), progress).run("queries a second", (round, turn) -> {
            turn.record(OURS, Pace.of(totals.length, i -> total(index, queries.get(i)) == totals[i]));
            turn.record(
                    BARE,
                    Pace.of(totals.length, i -> found(bare, prepared.get(i)).total() == totals[i]));
            turn.record(BARE_ALL, Pace.of(totals.length, i -> readBy(bare, queries.get(i)) == totals[i]));
        });
        for (String baseline : List.of(BARE, BARE_ALL)) {
            figures.add(rounds.figure(name, "1/s", OURS, baseline, baseline));
        }
    }

    /** A baseline that finds something else would be none. Returns how many were found. */
    private static long requireSame(SearchResult ours, BareSearcher bare, BareSearcher.Prepared prepared, String text)
            throws IOException {
        BareSearcher.Found found = bare.search(prepared);
        List<String> puris =
                ours.hits().stream().map(hit -> hit.puri().toString()).toList();
        if (ours.total() != found.total() || !puris.equals(bare.puris(found))) {
            throw new IllegalStateException("not found by the bare searcher what we find for " + text);
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

    private static BareSearcher.Found found(BareSearcher bare, BareSearcher.Prepared prepared) {
        try {
            return bare.search(prepared);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long readBy(BareSearcher bare, SearchQuery query) {
        try {
            BareSearcher.Found found = bare.search(bare.prepare(query));
            return bare.read(found) >= 0 ? found.total() : -1;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
