package dev.puri.search.lucene;

import dev.puri.search.index.Cursor;
import dev.puri.search.words.Wanted;
import dev.puri.search.words.Weights;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.ConstantScoreQuery;
import org.apache.lucene.search.DisjunctionMaxQuery;
import org.apache.lucene.search.FuzzyQuery;
import org.apache.lucene.search.MultiTermQuery;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.SynonymQuery;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.util.BytesRef;
import org.jspecify.annotations.Nullable;

/**
 * What is wanted, as Lucene's query over an index's own words.
 *
 * <pre>
 * all of   each word: the best of   the word          × 1      in brief, in long
 *                                   its beginnings    × 1/2    in brief, in long
 *                                   its slips         × 1/4    in brief, in long
 *          each phrase: the best of brief and long
 * and better, where all words that were typed stand together
 * </pre>
 *
 * The words that begin with one, or are a slip away, are looked up in the index. Where there are more than
 * {@value #MAX_EXPANSIONS} of them, all count the same, however long the field. Pages that follow score as the first
 * did, or their places in the order would mean something else.
 */
final class TextQuery {
    /** Words of the index that are weighed for one word that is looked for. */
    private static final int MAX_EXPANSIONS = 64;

    /** So many are weighed where a first page weighed its own: each costs a look-up in each segment. */
    private static final int MAX_EXPANSIONS_LATER = 8 * MAX_EXPANSIONS;

    private static final String[] FIELDS = {Fields.BRIEF, Fields.LONG};

    private final Map<String, Terms> terms = new LinkedHashMap<>();
    private final boolean coarse;
    private final int maxExpansions;
    private boolean exceeded;

    /**
     * A query, and whether it is coarse.
     *
     * @param coarse whether beginnings and slips count the same however long the field; the pages of one query have
     *     to agree
     */
    record Made(Query query, boolean coarse) {}

    private TextQuery(IndexReader reader, boolean coarse, int maxExpansions) throws IOException {
        for (String field : FIELDS) {
            Terms ofField = MultiTerms.getTerms(reader, field);
            if (ofField != null) {
                terms.put(field, ofField);
            }
        }
        this.coarse = coarse;
        this.maxExpansions = maxExpansions;
    }

    /** For the first page. */
    static Made first(IndexReader reader, Wanted wanted) throws IOException {
        Made fine = fine(reader, wanted, MAX_EXPANSIONS);
        return fine != null ? fine : coarse(reader, wanted);
    }

    /**
     * For those that follow.
     *
     * @throws Cursor.InvalidException when so many words were written since the first page that its order cannot be
     *     gone on with
     */
    static Made next(IndexReader reader, Wanted wanted, boolean coarse) throws IOException, Cursor.InvalidException {
        if (coarse) {
            return coarse(reader, wanted);
        }
        Made fine = fine(reader, wanted, MAX_EXPANSIONS_LATER);
        if (fine == null) {
            throw new Cursor.InvalidException("too many words were written since that this could find");
        }
        return fine;
    }

    private static @Nullable Made fine(IndexReader reader, Wanted wanted, int maxExpansions) throws IOException {
        TextQuery fine = new TextQuery(reader, false, maxExpansions);
        Query query = fine.of(wanted);
        return fine.exceeded ? null : new Made(query, false);
    }

    private static Made coarse(IndexReader reader, Wanted wanted) throws IOException {
        return new Made(new TextQuery(reader, true, 0).of(wanted), true);
    }

    private Query of(Wanted wanted) throws IOException {
        BooleanQuery.Builder all = new BooleanQuery.Builder();
        List<String> words = new ArrayList<>();
        for (Wanted.Clause clause : wanted.clauses()) {
            switch (clause) {
                case Wanted.Word word -> {
                    all.add(word(word), Occur.MUST);
                    words.add(word.text());
                }
                case Wanted.Phrase phrase -> all.add(phrase(phrase.words()), Occur.MUST);
            }
        }
        if (words.size() > 1) {
            all.add(new BoostQuery(phrase(words), Weights.TOGETHER), Occur.SHOULD);
        }
        return all.build();
    }

    private Query word(Wanted.Word word) throws IOException {
        List<Query> ways = new ArrayList<>();
        for (String field : terms.keySet()) {
            Term term = new Term(field, word.text());
            ways.add(new TermQuery(term));
            if (word.open()) {
                addOthers(new PrefixQuery(term), term, Weights.BEGINNING, ways);
            }
            if (word.slip()) {
                addOthers(slips(term), term, Weights.SLIP, ways);
            }
        }
        return new DisjunctionMaxQuery(ways, 0);
    }

    private static MultiTermQuery slips(Term term) {
        return new FuzzyQuery(
                term, 1, 0, FuzzyQuery.defaultMaxExpansions, true, MultiTermQuery.CONSTANT_SCORE_BLENDED_REWRITE);
    }

    private void addOthers(MultiTermQuery query, Term word, float weight, List<Query> ways) throws IOException {
        if (coarse) {
            ways.add(new BoostQuery(new ConstantScoreQuery(query), weight));
            return;
        }
        SynonymQuery.Builder others = new SynonymQuery.Builder(word.field());
        int count = 0;
        TermsEnum found = query.getTermsEnum(terms.get(word.field()));
        for (BytesRef other = found.next(); other != null; other = found.next()) {
            if (other.equals(word.bytes())) {
                continue;
            }
            if (++count > maxExpansions) {
                exceeded = true;
                return;
            }
            others.addTerm(BytesRef.deepCopyOf(other), 1);
        }
        if (count > 0) {
            ways.add(new BoostQuery(others.build(), weight));
        }
    }

    private Query phrase(List<String> words) {
        List<Query> ways = new ArrayList<>();
        for (String field : terms.keySet()) {
            ways.add(new PhraseQuery(field, words.toArray(String[]::new)));
        }
        return new DisjunctionMaxQuery(ways, 0);
    }
}
