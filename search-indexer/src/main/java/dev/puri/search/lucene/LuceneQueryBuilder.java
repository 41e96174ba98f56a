package dev.puri.search.lucene;

import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.search.words.ParsedQuery;
import dev.puri.search.words.QueryBuilder;
import dev.puri.search.words.RankedQueries;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.ConstantScoreQuery;
import org.apache.lucene.search.DisjunctionMaxQuery;
import org.apache.lucene.search.FuzzyQuery;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.MultiTermQuery;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermInSetQuery;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.util.BytesRef;

/**
 * Builds Lucene queries for {@link RankedQueries}. Queries only the words fields that at least one document of the
 * index has. There is one words field for each attribute weight.
 */
final class LuceneQueryBuilder implements QueryBuilder<Query> {
    private final List<Integer> fieldWeights = new ArrayList<>();

    private LuceneQueryBuilder(IndexReader reader) throws IOException {
        for (int weight = SearchedAttributes.MAX_WEIGHT; weight >= SearchedAttributes.MIN_WEIGHT; weight--) {
            if (hasField(reader, Fields.wordsField(weight))) {
                fieldWeights.add(weight);
            }
        }
    }

    private static boolean hasField(IndexReader reader, String field) throws IOException {
        for (LeafReaderContext segment : reader.leaves()) {
            if (segment.reader().terms(field) != null) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns a query for the entries that match the parsed query, or whose name the user typed.
     *
     * @param nameMatchKeys keys of the entries whose name the user typed; see {@link Fields#key}
     */
    static Query of(IndexReader reader, ParsedQuery query, Collection<BytesRef> nameMatchKeys) throws IOException {
        Query nameMatch = nameMatchKeys.isEmpty() ? null : new TermInSetQuery(Fields.KEY, nameMatchKeys);
        BooleanQuery.Builder anyAlternative = new BooleanQuery.Builder();
        for (Query alternative : RankedQueries.<Query>alternatives(query, nameMatch, new LuceneQueryBuilder(reader))) {
            anyAlternative.add(alternative, Occur.SHOULD);
        }
        return anyAlternative.build();
    }

    @Override
    public List<Integer> fieldWeights() {
        return fieldWeights;
    }

    @Override
    public String wordsField(int weight) {
        return Fields.wordsField(weight);
    }

    @Override
    public Query term(String field, String text) {
        return new TermQuery(new Term(field, text));
    }

    @Override
    public Query anyTerm(String field, Collection<String> texts) {
        return new TermInSetQuery(field, texts.stream().map(BytesRef::new).toList());
    }

    @Override
    public Query prefix(String field, String text) {
        return new PrefixQuery(new Term(field, text));
    }

    @Override
    public Query fuzzy(String field, String text) {
        int maxEdits = 1;
        int prefixLength = 0;
        boolean transpositions = true;
        return new FuzzyQuery(
                new Term(field, text),
                maxEdits,
                prefixLength,
                FuzzyQuery.defaultMaxExpansions,
                transpositions,
                MultiTermQuery.CONSTANT_SCORE_BLENDED_REWRITE);
    }

    @Override
    public Query fuzzyKeepingDigits(String field, String text) {
        return new TypoQuery(new Term(field, text));
    }

    @Override
    public Query phrase(String field, List<String> words, int slop) {
        return new PhraseQuery(slop, field, words.toArray(String[]::new));
    }

    @Override
    public Query constantScore(Query query, float score) {
        return new BoostQuery(new ConstantScoreQuery(query), score);
    }

    @Override
    public Query addFieldScore(Query query, int weight) {
        return new FieldScoreQuery(query, Fields.wordsField(weight), weight);
    }

    @Override
    public Query disMax(List<Query> queries) {
        return queries.isEmpty() ? new MatchNoDocsQuery() : new DisjunctionMaxQuery(queries, 0);
    }

    @Override
    public Query bool(List<Query> required, List<Query> filters, List<Query> optional) {
        BooleanQuery.Builder bool = new BooleanQuery.Builder();
        required.forEach(query -> bool.add(query, Occur.MUST));
        filters.forEach(query -> bool.add(query, Occur.FILTER));
        optional.forEach(query -> bool.add(query, Occur.SHOULD));
        return bool.build();
    }
}
