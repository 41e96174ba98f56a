package dev.puri.search.words;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Builds the search engine's queries from a parsed query. {@link ScoreModel} defines the scores.
 *
 * <pre>
 * at least one of
 * ├─ all of
 * │  ├─ each word: the highest score over all fields; a field has the word itself, a word that starts with it, or
 * │  │            the word with one typo
 * │  ├─ each phrase: the highest score over all fields
 * │  ├─ each word with symbols: a filter without a score
 * │  └─ optional, only for the score: the highest tier, adjacent words, completion
 * ├─ the title is one typo away from the typed text
 * └─ the typed text is a name of the identity
 * </pre>
 *
 * @param <Q> the type of the engine's queries
 */
public final class RankedQueries<Q> {
    private final ParsedQuery query;
    private final ScoreModel model;
    private final QueryBuilder<Q> builder;

    private RankedQueries(ParsedQuery query, QueryBuilder<Q> builder) {
        this.query = query;
        this.builder = builder;
        model = ScoreModel.of(query);
    }

    /**
     * Returns the alternative queries for a parsed query. A hit matches at least one alternative. The score of a hit is
     * the sum of the scores of the alternatives that it matches.
     *
     * @param nameMatch matches the entries of the identities with the typed name; null if there are none
     */
    public static <Q> List<Q> alternatives(ParsedQuery query, @Nullable Q nameMatch, QueryBuilder<Q> builder) {
        return new RankedQueries<>(query, builder).alternatives(nameMatch);
    }

    private List<Q> alternatives(@Nullable Q nameMatch) {
        List<Q> alternatives = new ArrayList<>();
        if (!query.clauses().isEmpty()) {
            alternatives.add(allClauses());
        }
        String title = query.titleWithTypo();
        if (title != null) {
            alternatives.add(builder.constantScore(
                    builder.fuzzyKeepingDigits(IndexedText.TITLE_KEYWORD_FIELD, title), ScoreModel.TITLE_TYPO_BONUS));
        }
        if (nameMatch != null) {
            alternatives.add(withTierScore(nameMatch, ScoreModel.NAME_TIER));
        }
        return alternatives;
    }

    private Q allClauses() {
        List<Q> required = new ArrayList<>();
        List<Q> filters = new ArrayList<>();
        for (ParsedQuery.Clause clause : query.clauses()) {
            switch (clause) {
                case ParsedQuery.WordClause word -> required.add(bestOfFields(field -> word(field, word)));
                case ParsedQuery.PhraseClause phrase ->
                    required.add(bestOfFields(field ->
                            builder.constantScore(builder.phrase(field, phrase.words(), 0), model.exactWordScore())));
                case ParsedQuery.SymbolClause symbolWord -> filters.add(symbolWord(symbolWord));
            }
        }
        List<Q> optional = new ArrayList<>();
        List<Q> tiers = new ArrayList<>();
        List<String> words = query.words();
        if (words.size() > 1) {
            List<Q> adjacent = new ArrayList<>();
            for (int weight : builder.fieldWeights()) {
                String field = builder.wordsField(weight);
                adjacent.add(builder.constantScore(
                        builder.phrase(field, words, 0), weight * ScoreModel.ADJACENT_WORDS_BONUS));
                tiers.add(withTierScore(
                        builder.phrase(field, words, ScoreModel.SAME_ATTRIBUTE_SLOP), ScoreModel.SAME_ATTRIBUTE_TIER));
            }
            optional.add(builder.disMax(adjacent));
            // The typed text may be a title and words of another attribute. A document whose title is the beginning or
            // the end of the typed text gets the same tier.
            tiers.add(withTierScore(
                    builder.anyTerm(IndexedText.TITLE_KEYWORD_FIELD, query.possibleTitles()),
                    ScoreModel.SAME_ATTRIBUTE_TIER));
        }
        String wholeWordsPrefix = query.wholeWordsPrefix();
        if (wholeWordsPrefix != null) {
            tiers.add(withTierScore(
                    builder.prefix(IndexedText.KEYWORDS_FIELD, wholeWordsPrefix), ScoreModel.STARTS_WITH_TIER));
        }
        String completionPrefix = query.completionPrefix();
        if (completionPrefix != null) {
            optional.add(builder.constantScore(
                    builder.prefix(IndexedText.KEYWORDS_FIELD, completionPrefix), ScoreModel.COMPLETION_BONUS));
        }
        tiers.add(withTierScore(builder.term(IndexedText.KEYWORDS_FIELD, query.keyword()), ScoreModel.EXACT_TIER));
        optional.add(builder.disMax(tiers));
        return builder.bool(required, filters, optional);
    }

    private Q withTierScore(Q query, int tier) {
        return builder.constantScore(query, model.tierScore(tier));
    }

    private Q symbolWord(ParsedQuery.SymbolClause symbolWord) {
        return symbolWord.isPrefix()
                ? builder.prefix(IndexedText.SYMBOL_WORDS_FIELD, symbolWord.text())
                : builder.term(IndexedText.SYMBOL_WORDS_FIELD, symbolWord.text());
    }

    /** Builds the same query for each words field; the field with the highest score counts. */
    private Q bestOfFields(Function<String, Q> queryOfField) {
        List<Q> queries = new ArrayList<>();
        for (int weight : builder.fieldWeights()) {
            queries.add(builder.addFieldScore(queryOfField.apply(builder.wordsField(weight)), weight));
        }
        return builder.disMax(queries);
    }

    private Q word(String field, ParsedQuery.WordClause word) {
        List<Q> queries = new ArrayList<>();
        queries.add(builder.constantScore(builder.term(field, word.text()), model.exactWordScore()));
        if (word.isPrefix()) {
            queries.add(builder.constantScore(builder.prefix(field, word.text()), model.prefixWordScore()));
        }
        if (word.allowsTypo()) {
            Q typo = word.hasDigits()
                    ? builder.fuzzyKeepingDigits(field, word.text())
                    : builder.fuzzy(field, word.text());
            queries.add(builder.constantScore(typo, 0));
        }
        return builder.disMax(queries);
    }
}
