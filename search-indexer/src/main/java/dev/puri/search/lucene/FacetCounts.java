package dev.puri.search.lucene;

import dev.puri.search.index.SearchQuery;
import java.io.IOException;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SortedDocValues;
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.CollectorManager;
import org.apache.lucene.search.LeafCollector;
import org.apache.lucene.search.Scorable;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.util.BytesRef;

/**
 * Counts hits by collection and by shard while they are found; each segment by the numbers that it has for them,
 * which become names only at its end. Keeps no list of hits, as lucene-facet's collector does.
 */
final class FacetCounts implements Collector {
    static final CollectorManager<FacetCounts, FacetCounts> MANAGER = new CollectorManager<>() {
        @Override
        public FacetCounts newCollector() {
            return new FacetCounts();
        }

        @Override
        public FacetCounts reduce(Collection<FacetCounts> parts) {
            FacetCounts all = new FacetCounts();
            for (FacetCounts part : parts) {
                part.byCollection.forEach((name, count) -> all.byCollection.merge(name, count, Long::sum));
                part.byShard.forEach((name, count) -> all.byShard.merge(name, count, Long::sum));
            }
            return all;
        }
    };

    private final Map<BytesRef, Long> byCollection = new HashMap<>();
    private final Map<BytesRef, Long> byShard = new HashMap<>();

    @Override
    public ScoreMode scoreMode() {
        return ScoreMode.COMPLETE_NO_SCORES;
    }

    @Override
    public LeafCollector getLeafCollector(LeafReaderContext context) throws IOException {
        SortedDocValues collections = DocValues.getSorted(context.reader(), Fields.COLLECTION);
        SortedDocValues shards = DocValues.getSorted(context.reader(), Fields.SHARD);
        int[] ofCollections = new int[collections.getValueCount()];
        int[] ofShards = new int[shards.getValueCount()];
        return new LeafCollector() {
            @Override
            public void setScorer(Scorable scorer) {}

            @Override
            public void collect(int doc) throws IOException {
                if (collections.advanceExact(doc)) {
                    ofCollections[collections.ordValue()]++;
                }
                if (shards.advanceExact(doc)) {
                    ofShards[shards.ordValue()]++;
                }
            }

            @Override
            public void finish() throws IOException {
                add(collections, ofCollections, byCollection);
                add(shards, ofShards, byShard);
            }
        };
    }

    /** How many hits there were: each has one collection. */
    long total() {
        return byCollection.values().stream().mapToLong(Long::longValue).sum();
    }

    Map<String, Long> byCollection() {
        return mostFirst(byCollection);
    }

    Map<String, Long> byShard() {
        return mostFirst(byShard);
    }

    private static void add(SortedDocValues names, int[] counts, Map<BytesRef, Long> sums) throws IOException {
        for (int number = 0; number < counts.length; number++) {
            if (counts[number] > 0) {
                sums.merge(BytesRef.deepCopyOf(names.lookupOrd(number)), (long) counts[number], Long::sum);
            }
        }
    }

    private static Map<String, Long> mostFirst(Map<BytesRef, Long> sums) {
        Map<String, Long> ordered = new LinkedHashMap<>();
        sums.entrySet().stream()
                .sorted(Map.Entry.<BytesRef, Long>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .limit(SearchQuery.MAX_FACET_VALUES)
                .forEach(each -> ordered.put(each.getKey().utf8ToString(), each.getValue()));
        return ordered;
    }
}
