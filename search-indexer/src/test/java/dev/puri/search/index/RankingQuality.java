package dev.puri.search.index;

import dev.puri.search.index.PackageList.Package;
import dev.puri.search.index.PackageQueries.Query;
import dev.puri.search.index.PackageQueries.QueryClass;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Measures at which rank a search engine returns the meant package, by class of queries. */
final class RankingQuality {
    /** Hits that are examined. */
    static final int DEPTH = 100;

    private RankingQuality() {}

    /** Returns numbers of packages, best first, at most {@value #DEPTH}. */
    @FunctionalInterface
    interface Engine {
        List<Integer> search(String typed) throws Exception;
    }

    /**
     * The result of a class of queries.
     *
     * @param reciprocalRank mean of 1/rank of the first meant hit, 0 without one
     * @param first share of queries whose first hit is meant
     * @param third share of queries with a meant hit among the first three
     * @param missed typed texts without a meant hit among the first three
     */
    record Quality(int queries, double reciprocalRank, double first, double third, List<String> missed) {}

    static Map<QueryClass, Quality> measure(Engine engine, List<Package> packages, Map<QueryClass, List<Query>> queries)
            throws Exception {
        Map<QueryClass, Quality> qualities = new EnumMap<>(QueryClass.class);
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
            qualities.put(
                    each.getKey(), new Quality((int) count, reciprocal / count, first / count, third / count, missed));
        }
        return qualities;
    }

    private static int rank(List<Integer> found, Query query, List<Package> packages) {
        for (int i = 0; i < found.size(); i++) {
            if (query.isMeant().test(packages.get(found.get(i)))) {
                return i + 1;
            }
        }
        return 0;
    }
}
