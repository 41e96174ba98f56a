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
 * Adds a field score to the score of another query: the attribute weight of the field times
 * {@link ScoreModel#lengthFactor}. BM25, Lucene's default similarity, cannot do this: it multiplies its factors, and
 * Lucene gives prefix queries a constant score. BM25 also uses the number of documents that contain a term, so each
 * indexed document would change the scores of other documents.
 */
final class FieldScoreQuery extends Query {
    private final Query query;
    private final String field;
    private final int attributeWeight;

    /**
     * Creates a query.
     *
     * @param query a query on the field, with constant scores
     * @param field a words field; it has norms, which encode its number of words
     * @param attributeWeight the weight that each attribute in the field has
     */
    FieldScoreQuery(Query query, String field, int attributeWeight) {
        this.query = query;
        this.field = field;
        this.attributeWeight = attributeWeight;
    }

    @Override
    public Query rewrite(IndexSearcher searcher) throws IOException {
        Query rewritten = query.rewrite(searcher);
        return rewritten == query ? this : new FieldScoreQuery(rewritten, field, attributeWeight);
    }

    @Override
    public Weight createWeight(IndexSearcher searcher, ScoreMode mode, float boost) throws IOException {
        Weight inner = searcher.createWeight(query, mode, boost);
        return mode.needsScores() ? new FieldScoreWeight(inner, boost) : inner;
    }

    private final class FieldScoreWeight extends Weight {
        private final Weight inner;
        private final float boost;

        private FieldScoreWeight(Weight inner, float boost) {
            super(FieldScoreQuery.this);
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

        private Scorer scorer(Scorer scorer, @Nullable NumericDocValues norms) {
            float maxFieldScore = boost * attributeWeight * 2;
            return new FilterScorer(scorer) {
                @Override
                public float score() throws IOException {
                    float lengthFactor = norms != null && norms.advanceExact(docID())
                            ? ScoreModel.lengthFactor(norms.longValue())
                            : 1;
                    return in.score() + boost * attributeWeight * lengthFactor;
                }

                @Override
                public int advanceShallow(int target) throws IOException {
                    return in.advanceShallow(target);
                }

                @Override
                public float getMaxScore(int upTo) throws IOException {
                    return in.getMaxScore(upTo) + maxFieldScore;
                }
            };
        }

        @Override
        public Explanation explain(LeafReaderContext segment, int doc) throws IOException {
            ScorerSupplier supplier = scorerSupplier(segment);
            Scorer scorer = supplier == null ? null : supplier.get(1);
            return scorer != null && scorer.iterator().advance(doc) == doc
                    ? Explanation.match(scorer.score(), FieldScoreQuery.this.toString())
                    : Explanation.noMatch("no match");
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
        return other instanceof FieldScoreQuery that
                && query.equals(that.query)
                && field.equals(that.field)
                && attributeWeight == that.attributeWeight;
    }

    @Override
    public int hashCode() {
        return 31 * (31 * query.hashCode() + field.hashCode()) + attributeWeight;
    }

    @Override
    public String toString(String defaultField) {
        return "(" + query.toString(defaultField) + ")+" + attributeWeight + "*" + field;
    }
}
