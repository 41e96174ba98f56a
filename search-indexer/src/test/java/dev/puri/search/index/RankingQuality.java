package dev.puri.search.index;

import dev.puri.search.index.PackageList.Package;
import dev.puri.search.index.PackageQueries.Query;
import dev.puri.search.index.PackageQueries.QueryClass;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** How far up a way to search puts what is meant, by class of queries. */
final class RankingQuality {
    /** Hits that are looked at. */
    static final int DEPTH = 100;

    private RankingQuality() {}

    /** A way to search: numbers of packages, the best first, of {@value #DEPTH} hits at most. */
    @FunctionalInterface
    interface Engine {
        List<Integer> search(String typed) throws Exception;
    }

    /**
     * What came of the queries of a class.
     *
     * @param reciprocalRank mean of 1/rank of the first hit that was meant, 0 where there was none
     * @param first share of queries whose first hit was meant
     * @param third share of queries that had one that was meant among the first three
     * @param missed what was typed where none was among the first three
     */
    record Verdict(int queries, double reciprocalRank, double first, double third, List<String> missed) {}

    static Map<QueryClass, Verdict> judge(Engine engine, List<Package> packages, Map<QueryClass, List<Query>> queries)
            throws Exception {
        Map<QueryClass, Verdict> verdicts = new EnumMap<>(QueryClass.class);
        for (Map.Entry<QueryClass, List<Query>> each : queries.entrySet()) {
            double reciprocal = 0;
            int first = 0;
            int third = 0;
            List<String> missed = new ArrayList<>();
            for (Query query : each.getValue()) {
                int rank = rank(engine.search(query.typed()), query, packages);
                reciprocal += rank == 0 ? 0 : 1.0 / rank;
                first += rank == 1 ? 1 : 0;
                if (rank >= 1 && rank <= 3) {
                    third++;
                } else {
                    missed.add(query.typed() + " (" + (rank == 0 ? "none" : rank) + ")");
                }
            }
            double count = each.getValue().size();
            verdicts.put(
                    each.getKey(), new Verdict((int) count, reciprocal / count, first / count, third / count, missed));
        }
        return verdicts;
    }

    private static int rank(List<Integer> found, Query query, List<Package> packages) {
        for (int i = 0; i < found.size(); i++) {
            if (query.wanted().test(packages.get(found.get(i)))) {
                return i + 1;
            }
        }
        return 0;
    }
}
