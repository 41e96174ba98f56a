package dev.puri.search.lucene;

import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.search.words.ParsedQuery;
import dev.puri.search.words.ScoreModel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
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
 * What is wanted, as Lucene's query over an index's own words; {@link ScoreModel} says what each part adds.
 *
 * <pre>
 * any of   all of   each word: the best of the fields, by weight   the word, its beginnings, its slips
 *                   each phrase: the same
 *                   each word with signs, in a field of its own
 *                   and better, where all words stand together; and by tiers
 *          a title that is as a whole a slip away
 *          an object of this name
 * </pre>
 */
final class TextQuery {
    private final ParsedQuery wanted;
    private final ScoreModel weights;
    private final List<Integer> fields = new ArrayList<>();

    private TextQuery(IndexReader reader, ParsedQuery wanted) throws IOException {
        this.wanted = wanted;
        weights = ScoreModel.of(wanted);
        for (int weight = SearchedAttributes.MAX_BOOST; weight >= SearchedAttributes.MIN_BOOST; weight--) {
            if (has(reader, Fields.words(weight))) {
                fields.add(weight);
            }
        }
    }

    private static boolean has(IndexReader reader, String field) throws IOException {
        for (LeafReaderContext segment : reader.leaves()) {
            if (segment.reader().terms(field) != null) {
                return true;
            }
        }
        return false;
    }

    /**
     * Finds documents that have what is wanted, and entries that have its name.
     *
     * @param named keys of the latter
     */
    static Query of(IndexReader reader, ParsedQuery wanted, Collection<BytesRef> named) throws IOException {
        return new TextQuery(reader, wanted).query(named);
    }

    private Query query(Collection<BytesRef> named) {
        BooleanQuery.Builder any = new BooleanQuery.Builder();
        if (!wanted.clauses().isEmpty()) {
            any.add(all(), Occur.SHOULD);
        }
        String title = wanted.titleWithSlip();
        if (title != null) {
            any.add(constant(new TypoQuery(new Term(Fields.TITLE, title)), ScoreModel.WHOLE_SLIP), Occur.SHOULD);
        }
        if (!named.isEmpty()) {
            any.add(constant(new TermInSetQuery(Fields.KEY, named), weights.tier(ScoreModel.NAMED)), Occur.SHOULD);
        }
        return any.build();
    }

    private Query all() {
        BooleanQuery.Builder all = new BooleanQuery.Builder();
        for (ParsedQuery.Clause clause : wanted.clauses()) {
            switch (clause) {
                case ParsedQuery.WordClause word -> all.add(best(field -> word(field, word)), Occur.MUST);
                case ParsedQuery.PhraseClause phrase ->
                    all.add(best(field -> constant(phrase(field, phrase.words(), 0), weights.word())), Occur.MUST);
                case ParsedQuery.SymbolClause signed -> {
                    Term term = new Term(Fields.SIGNED, signed.text());
                    all.add(signed.open() ? new PrefixQuery(term) : new TermQuery(term), Occur.FILTER);
                }
            }
        }
        List<String> words = wanted.words();
        List<Query> tiers = new ArrayList<>();
        if (words.size() > 1) {
            List<Query> inOrder = new ArrayList<>();
            for (int weight : fields) {
                String field = Fields.words(weight);
                inOrder.add(constant(phrase(field, words, 0), weight * ScoreModel.IN_ORDER));
                tiers.add(tier(phrase(field, words, ScoreModel.SLOP), ScoreModel.TOGETHER));
            }
            all.add(new DisjunctionMaxQuery(inOrder, 0), Occur.SHOULD);
            List<BytesRef> parts = wanted.parts().stream().map(BytesRef::new).toList();
            tiers.add(tier(new TermInSetQuery(Fields.TITLE, parts), ScoreModel.TOGETHER));
        }
        String beginning = wanted.beginning();
        if (beginning != null) {
            tiers.add(tier(new PrefixQuery(new Term(Fields.WHOLE, beginning)), ScoreModel.BEGINS));
        }
        String typedOn = wanted.typedOn();
        if (typedOn != null) {
            all.add(constant(new PrefixQuery(new Term(Fields.WHOLE, typedOn)), ScoreModel.TYPED_ON), Occur.SHOULD);
        }
        tiers.add(tier(new TermQuery(new Term(Fields.WHOLE, wanted.whole())), ScoreModel.EQUAL));
        all.add(new DisjunctionMaxQuery(tiers, 0), Occur.SHOULD);
        return all.build();
    }

    private Query tier(Query query, int tier) {
        return constant(query, weights.tier(tier));
    }

    private Query best(Function<String, Query> inField) {
        List<Query> ways = new ArrayList<>();
        for (int weight : fields) {
            String field = Fields.words(weight);
            ways.add(new FieldWeightQuery(inField.apply(field), field, weight));
        }
        return ways.isEmpty() ? new MatchNoDocsQuery() : new DisjunctionMaxQuery(ways, 0);
    }

    private Query word(String field, ParsedQuery.WordClause word) {
        Term term = new Term(field, word.text());
        List<Query> ways = new ArrayList<>();
        ways.add(constant(new TermQuery(term), weights.word()));
        if (word.open()) {
            ways.add(constant(new PrefixQuery(term), weights.beginning()));
        }
        if (word.slip()) {
            ways.add(constant(slips(term, word), 0));
        }
        return new DisjunctionMaxQuery(ways, 0);
    }

    private static Query slips(Term term, ParsedQuery.WordClause word) {
        return word.hasDigits()
                ? new TypoQuery(term)
                : new FuzzyQuery(
                        term,
                        1,
                        0,
                        FuzzyQuery.defaultMaxExpansions,
                        true,
                        MultiTermQuery.CONSTANT_SCORE_BLENDED_REWRITE);
    }

    private static Query phrase(String field, List<String> words, int slop) {
        return new PhraseQuery(slop, field, words.toArray(String[]::new));
    }

    private static Query constant(Query query, float score) {
        return new BoostQuery(new ConstantScoreQuery(query), score);
    }
}
