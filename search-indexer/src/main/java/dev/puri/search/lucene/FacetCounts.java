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
 * Counts hits by collection and by shard during the search. In a segment it counts by the ordinals of the names; at the
 * end of the segment it looks up the names. Unlike the collector of lucene-facet, it stores no list of hits.
 */
final class FacetCounts implements Collector {
    static final CollectorManager<FacetCounts, FacetCounts> MANAGER = new CollectorManager<>() {
        @Override
        public FacetCounts newCollector() {
            return new FacetCounts();
        }

        @Override
        public FacetCounts reduce(Collection<FacetCounts> parts) {
            FacetCounts sum = new FacetCounts();
            for (FacetCounts part : parts) {
                part.byCollection.forEach((name, count) -> sum.byCollection.merge(name, count, Long::sum));
                part.byShard.forEach((name, count) -> sum.byShard.merge(name, count, Long::sum));
            }
            return sum;
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
        int[] collectionCounts = new int[collections.getValueCount()];
        int[] shardCounts = new int[shards.getValueCount()];
        return new LeafCollector() {
            @Override
            public void setScorer(Scorable scorer) {}

            @Override
            public void collect(int doc) throws IOException {
                if (collections.advanceExact(doc)) {
                    collectionCounts[collections.ordValue()]++;
                }
                if (shards.advanceExact(doc)) {
                    shardCounts[shards.ordValue()]++;
                }
            }

            @Override
            public void finish() throws IOException {
                addCounts(collections, collectionCounts, byCollection);
                addCounts(shards, shardCounts, byShard);
            }
        };
    }

    /** Returns the number of hits. Each hit has exactly one collection. */
    long total() {
        return byCollection.values().stream().mapToLong(Long::longValue).sum();
    }

    Map<String, Long> byCollection() {
        return largestFirst(byCollection);
    }

    Map<String, Long> byShard() {
        return largestFirst(byShard);
    }

    private static void addCounts(SortedDocValues names, int[] counts, Map<BytesRef, Long> sums) throws IOException {
        for (int ordinal = 0; ordinal < counts.length; ordinal++) {
            if (counts[ordinal] > 0) {
                sums.merge(BytesRef.deepCopyOf(names.lookupOrd(ordinal)), (long) counts[ordinal], Long::sum);
            }
        }
    }

    private static Map<String, Long> largestFirst(Map<BytesRef, Long> sums) {
        Map<String, Long> ordered = new LinkedHashMap<>();
        sums.entrySet().stream()
                .sorted(Map.Entry.<BytesRef, Long>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .limit(SearchQuery.MAX_FACET_VALUES)
                .forEach(sum -> ordered.put(sum.getKey().utf8ToString(), sum.getValue()));
        return ordered;
    }
}
