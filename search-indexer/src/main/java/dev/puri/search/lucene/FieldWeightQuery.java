package dev.puri.search.lucene;

import dev.puri.search.words.ScoreModel;
import java.io.IOException;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.search.Explanation;
import org.apache.lucene.search.FilterScorer;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.ScorerSupplier;
import org.apache.lucene.search.Weight;
import org.jspecify.annotations.Nullable;

/**
 * What another query scores, and beside it what the field adds in which it found something: its weight, and up to twice
 * of it the fewer words it has. Lucene's similarities multiply, are told of single words and not of those that begin
 * with one, and know how rare a word is, which changes with every document.
 */
final class FieldWeightQuery extends Query {
    private final Query query;
    private final String field;
    private final int weight;

    /**
     * @param query whose scores are constant
     * @param field which keeps its lengths
     */
    FieldWeightQuery(Query query, String field, int weight) {
        this.query = query;
        this.field = field;
        this.weight = weight;
    }

    @Override
    public Query rewrite(IndexSearcher searcher) throws IOException {
        Query rewritten = query.rewrite(searcher);
        return rewritten == query ? this : new FieldWeightQuery(rewritten, field, weight);
    }

    @Override
    public Weight createWeight(IndexSearcher searcher, ScoreMode mode, float boost) throws IOException {
        Weight inner = searcher.createWeight(query, mode, boost);
        return mode.needsScores() ? new Weighed(inner, boost) : inner;
    }

    private final class Weighed extends Weight {
        private final Weight inner;
        private final float boost;

        private Weighed(Weight inner, float boost) {
            super(FieldWeightQuery.this);
            this.inner = inner;
            this.boost = boost;
        }

        @Override
        public @Nullable ScorerSupplier scorerSupplier(LeafReaderContext segment) throws IOException {
            ScorerSupplier supplier = inner.scorerSupplier(segment);
            return supplier == null
                    ? null
                    : new ScorerSupplier() {
                        @Override
                        public Scorer get(long leadCost) throws IOException {
                            return scorer(
                                    supplier.get(leadCost), segment.reader().getNormValues(field));
                        }

                        @Override
                        public long cost() {
                            return supplier.cost();
                        }
                    };
        }

        private Scorer scorer(Scorer scorer, @Nullable NumericDocValues lengths) {
            float most = boost * weight * 2;
            return new FilterScorer(scorer) {
                @Override
                public float score() throws IOException {
                    float shortness = lengths != null && lengths.advanceExact(docID())
                            ? ScoreModel.shortness(lengths.longValue())
                            : 1;
                    return in.score() + boost * weight * shortness;
                }

                @Override
                public int advanceShallow(int target) throws IOException {
                    return in.advanceShallow(target);
                }

                @Override
                public float getMaxScore(int upTo) throws IOException {
                    return in.getMaxScore(upTo) + most;
                }
            };
        }

        @Override
        public Explanation explain(LeafReaderContext segment, int doc) throws IOException {
            ScorerSupplier supplier = scorerSupplier(segment);
            Scorer scorer = supplier == null ? null : supplier.get(1);
            return scorer != null && scorer.iterator().advance(doc) == doc
                    ? Explanation.match(scorer.score(), FieldWeightQuery.this.toString())
                    : Explanation.noMatch("not found");
        }

        @Override
        public int count(LeafReaderContext segment) throws IOException {
            return inner.count(segment);
        }

        @Override
        public boolean isCacheable(LeafReaderContext segment) {
            return inner.isCacheable(segment);
        }
    }

    @Override
    public void visit(QueryVisitor visitor) {
        query.visit(visitor);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof FieldWeightQuery that
                && query.equals(that.query)
                && field.equals(that.field)
                && weight == that.weight;
    }

    @Override
    public int hashCode() {
        return 31 * (31 * query.hashCode() + field.hashCode()) + weight;
    }

    @Override
    public String toString(String inField) {
        return "(" + query.toString(inField) + ")+" + weight + "*" + field;
    }
}
