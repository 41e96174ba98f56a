package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.search.index.PackageList.Package;
import dev.puri.search.index.PackageQueries.Query;
import dev.puri.search.index.PackageQueries.QueryClass;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.assertj.core.api.SoftAssertions;

/** Compares search engines by queries over this machine's package list. */
public final class JudgedPackages {
    /** Share of exact names that must be the first hit. */
    private static final double MIN_FIRST_NAMES = 0.95;

    /** Fewer queries of a class would not be significant. */
    private static final int MIN_QUERIES = 40;

    private static final String PREFIX = "debian:packages:no-";

    private final List<Package> packages;
    private final Map<QueryClass, List<Query>> queries;
    private final Map<String, Map<QueryClass, RankingQuality.Quality>> qualities = new LinkedHashMap<>();

    private JudgedPackages(List<Package> packages, Map<QueryClass, List<Query>> queries) {
        this.packages = packages;
        this.queries = queries;
    }

    /** A search engine; returns numbers of packages, best first. */
    @FunctionalInterface
    public interface Engine {
        List<Integer> search(String typed, int limit) throws Exception;
    }

    /**
     * Reads the machine's package list.
     *
     * @param max limit of packages: those that queries mean, and random others, the same for the same list
     */
    public static JudgedPackages read(int max) throws IOException, InterruptedException {
        List<Package> all = PackageList.read();
        Map<QueryClass, List<Query>> queries = PackageQueries.of(all);
        if (all.size() <= max) {
            return new JudgedPackages(all, queries);
        }
        Set<Package> chosen = new LinkedHashSet<>();
        for (List<Query> each : queries.values()) {
            for (Package some : all) {
                if (each.stream().anyMatch(query -> query.isMeant().test(some))) {
                    chosen.add(some);
                }
            }
        }
        List<Package> others = new ArrayList<>(all);
        Collections.shuffle(others, new Random(20261122));
        others.stream().takeWhile(other -> chosen.size() < max).forEach(chosen::add);
        return new JudgedPackages(PackageList.numbered(chosen), queries);
    }

    /** Returns whether the machine has package lists. */
    public boolean exist() {
        return !packages.isEmpty();
    }

    /** Returns the packages as documents, in the order of their numbers. */
    public List<Item> packages() {
        return packages.stream().map(Package::item).toList();
    }

    /** Fills an index with the packages and returns an engine that searches it. */
    public Engine fill(SearchIndex index) throws IndexUnavailableException {
        FakeTopics topics = new FakeTopics();
        topics.write(packages().toArray(Item[]::new));
        index.apply(topics.since(0));
        index.refresh();
        return (typed, limit) ->
                SampleQuery.text(typed).namespaces("debian").limit(limit).plain().purisOf(index).stream()
                        .map(puri -> Integer.valueOf(puri.substring(PREFIX.length())))
                        .toList();
    }

    /** Runs all queries on an engine. */
    public void measure(String name, Engine engine) throws Exception {
        qualities.put(
                name, RankingQuality.measure(typed -> engine.search(typed, RankingQuality.DEPTH), packages, queries));
    }

    /** Returns the results as a Markdown table. */
    public String table() {
        StringBuilder table = new StringBuilder(packages.size() + " packages\n| queries | of them |");
        qualities.keySet().forEach(name -> table.append(' ').append(name).append(" MRR | @1 | @3 |"));
        table.append("\n|---|---|")
                .append("---|---|---|".repeat(qualities.size()))
                .append('\n');
        for (Map.Entry<QueryClass, List<Query>> each : queries.entrySet()) {
            table.append("| ")
                    .append(each.getKey())
                    .append(" | ")
                    .append(each.getValue().size())
                    .append(" |");
            for (Map<QueryClass, RankingQuality.Quality> quality : qualities.values()) {
                RankingQuality.Quality found = quality.get(each.getKey());
                table.append(String.format(
                        Locale.ROOT, " %.3f | %.3f | %.3f |", found.reciprocalRank(), found.first(), found.third()));
            }
            table.append('\n');
        }
        return table.toString();
    }

    /**
     * Fails unless an engine finds names first, none after the third hit, and answers no class of queries worse than
     * the baseline.
     */
    public void requireAllFound(String name, String baseline) {
        Map<QueryClass, RankingQuality.Quality> ours = qualities.get(name);
        SoftAssertions softly = new SoftAssertions();
        softly.assertThat(ours.get(QueryClass.NAME).first())
                .as(name + ": names that come first")
                .isGreaterThanOrEqualTo(MIN_FIRST_NAMES);
        softly.assertThat(ours.get(QueryClass.NAME).missed())
                .as(name + ": names after the third")
                .isEmpty();
        qualities.get(baseline).forEach((kind, theirs) -> {
            RankingQuality.Quality our = ours.get(kind);
            softly.assertThat(our.reciprocalRank())
                    .as("%s: mean reciprocal rank of %s, missed %s", name, kind, our.missed())
                    .isGreaterThanOrEqualTo(theirs.reciprocalRank());
            softly.assertThat(our.first()).as("%s: first of %s", name, kind).isGreaterThanOrEqualTo(theirs.first());
            softly.assertThat(our.third())
                    .as("%s: first three of %s", name, kind)
                    .isGreaterThanOrEqualTo(theirs.third());
        });
        softly.assertAll();
        assertThat(queries.values()).allSatisfy(each -> assertThat(each).hasSizeGreaterThanOrEqualTo(MIN_QUERIES));
    }
}
