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

/** Queries over this machine's package list, and how well each way to search answers them. */
public final class JudgedPackages {
    /** Exact names that come first, of all that are judged. */
    private static final double FIRST_NAMES = 0.95;

    /** A class of fewer queries would tell little. */
    private static final int MIN_QUERIES = 40;

    private static final String PREFIX = "debian:packages:no-";

    private final List<Package> packages;
    private final Map<QueryClass, List<Query>> queries;
    private final Map<String, Map<QueryClass, RankingQuality.Verdict>> verdicts = new LinkedHashMap<>();

    private JudgedPackages(List<Package> packages, Map<QueryClass, List<Query>> queries) {
        this.packages = packages;
        this.queries = queries;
    }

    /** A way to search: numbers of packages, the best first. */
    @FunctionalInterface
    public interface Engine {
        List<Integer> search(String typed, int limit) throws Exception;
    }

    /**
     * Reads the machine's package list.
     *
     * @param most packages at most: all that are meant by queries, and others by chance, the same for the same list
     */
    public static JudgedPackages read(int most) throws IOException, InterruptedException {
        List<Package> all = PackageList.read();
        Map<QueryClass, List<Query>> queries = PackageQueries.of(all);
        if (all.size() <= most) {
            return new JudgedPackages(all, queries);
        }
        Set<Package> chosen = new LinkedHashSet<>();
        for (List<Query> each : queries.values()) {
            for (Package some : all) {
                if (each.stream().anyMatch(query -> query.wanted().test(some))) {
                    chosen.add(some);
                }
            }
        }
        List<Package> others = new ArrayList<>(all);
        Collections.shuffle(others, new Random(20261122));
        others.stream().takeWhile(other -> chosen.size() < most).forEach(chosen::add);
        return new JudgedPackages(PackageList.numbered(chosen), queries);
    }

    /** Whether the machine has package lists. */
    public boolean areThere() {
        return !packages.isEmpty();
    }

    /** As documents, in the order of their numbers. */
    public List<Item> packages() {
        return packages.stream().map(Package::item).toList();
    }

    /** Fills an index with them, and searches it as somebody who types. */
    public Engine fill(SearchIndex index) throws IndexUnavailableException {
        FakeTopics log = new FakeTopics();
        log.write(packages().toArray(Item[]::new));
        index.apply(log.since(0));
        index.refresh();
        return (typed, limit) -> TestQuery.text(typed).namespaces("debian").limit(limit).plain().purisOf(index).stream()
                .map(puri -> Integer.valueOf(puri.substring(PREFIX.length())))
                .toList();
    }

    /** Asks all that is judged. */
    public void by(String name, Engine engine) throws Exception {
        verdicts.put(name, RankingQuality.judge(typed -> engine.search(typed, RankingQuality.DEPTH), packages, queries));
    }

    /** In Markdown. */
    public String table() {
        StringBuilder table = new StringBuilder(packages.size() + " packages\n| queries | of them |");
        verdicts.keySet().forEach(name -> table.append(' ').append(name).append(" MRR | @1 | @3 |"));
        table.append("\n|---|---|")
                .append("---|---|---|".repeat(verdicts.size()))
                .append('\n');
        for (Map.Entry<QueryClass, List<Query>> each : queries.entrySet()) {
            table.append("| ")
                    .append(each.getKey())
                    .append(" | ")
                    .append(each.getValue().size())
                    .append(" |");
            for (Map<QueryClass, RankingQuality.Verdict> verdict : verdicts.values()) {
                RankingQuality.Verdict found = verdict.get(each.getKey());
                table.append(String.format(
                        Locale.ROOT, " %.3f | %.3f | %.3f |", found.reciprocalRank(), found.first(), found.third()));
            }
            table.append('\n');
        }
        return table.toString();
    }

    /**
     * Fails unless names come first, none after the third, and no class of queries is answered worse than by another.
     */
    public void requireAllFound(String name, String baseline) {
        Map<QueryClass, RankingQuality.Verdict> ours = verdicts.get(name);
        SoftAssertions softly = new SoftAssertions();
        softly.assertThat(ours.get(QueryClass.NAME).first())
                .as(name + ": names that come first")
                .isGreaterThanOrEqualTo(FIRST_NAMES);
        softly.assertThat(ours.get(QueryClass.NAME).missed())
                .as(name + ": names after the third")
                .isEmpty();
        verdicts.get(baseline).forEach((kind, theirs) -> {
            RankingQuality.Verdict our = ours.get(kind);
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
