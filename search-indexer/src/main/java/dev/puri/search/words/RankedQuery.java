package dev.puri.search.words;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes a query of an engine from a parsed query, scored by {@link ScoreModel}.
 *
 * <pre>
 * any of   all of   each word: the best field, for the word itself, its prefix or a typo
 *                   each phrase: the best field
 *                   each word with symbols
 *                   optional: the best tier, adjacent words, completion
 *          the title with one typo
 *          an identity with the typed name
 * </pre>
 */
public final class RankedQuery<Q> {
    private final ParsedQuery query;
    private final ScoreModel model;
    private final QueryBuilder<Q> builder;

    private RankedQuery(ParsedQuery query, QueryBuilder<Q> builder) {
        this.query = query;
        this.builder = builder;
        model = ScoreModel.of(query);
    }

    /**
     * Returns the alternatives of a query. A hit matches at least one of them, and its score is the sum of all that it
     * matches.
     *
     * @param named matches the entries that have the typed name; null if there are none
     */
    public static <Q> List<Q> alternatives(ParsedQuery query, @Nullable Q named, QueryBuilder<Q> builder) {
        return new RankedQuery<>(query, builder).alternatives(named);
    }

    private List<Q> alternatives(@Nullable Q named) {
        List<Q> alternatives = new ArrayList<>();
        if (!query.clauses().isEmpty()) {
            alternatives.add(allClauses());
        }
        String title = query.titleWithTypo();
        if (title != null) {
            alternatives.add(
                    builder.constantScore(builder.typo(IndexedText.TITLE_FIELD, title), ScoreModel.TITLE_TYPO_BONUS));
        }
        if (named != null) {
            alternatives.add(tier(named, ScoreModel.NAME_TIER));
        }
        return alternatives;
    }

    private Q allClauses() {
        List<Q> required = new ArrayList<>();
        List<Q> filters = new ArrayList<>();
        for (ParsedQuery.Clause clause : query.clauses()) {
            switch (clause) {
                case ParsedQuery.WordClause word -> required.add(bestField(field -> word(field, word)));
                case ParsedQuery.PhraseClause phrase ->
                    required.add(bestField(field ->
                            builder.constantScore(builder.phrase(field, phrase.words(), 0), model.exactWordScore())));
                case ParsedQuery.SymbolClause symbolWord -> filters.add(symbolWord(symbolWord));
            }
        }
        List<Q> optional = new ArrayList<>();
        List<Q> tiers = new ArrayList<>();
        List<String> words = query.words();
        if (words.size() > 1) {
            List<Q> adjacent = new ArrayList<>();
            for (int weight : builder.weights()) {
                String field = builder.wordsField(weight);
                adjacent.add(builder.constantScore(builder.phrase(field, words, 0), weight * ScoreModel.ADJACENT_WORDS_BONUS));
                tiers.add(tier(builder.phrase(field, words, ScoreModel.SAME_ATTRIBUTE_SLOP), ScoreModel.SAME_ATTRIBUTE_TIER));
            }
            optional.add(builder.best(adjacent));
            tiers.add(tier(
                    builder.anyTerm(IndexedText.TITLE_FIELD, query.possibleTitles()), ScoreModel.SAME_ATTRIBUTE_TIER));
        }
        String startPrefix = query.startPrefix();
        if (startPrefix != null) {
            tiers.add(tier(builder.prefix(IndexedText.KEYWORDS_FIELD, startPrefix), ScoreModel.STARTS_WITH_TIER));
        }
        String completionPrefix = query.completionPrefix();
        if (completionPrefix != null) {
            optional.add(builder.constantScore(
                    builder.prefix(IndexedText.KEYWORDS_FIELD, completionPrefix), ScoreModel.COMPLETION_BONUS));
        }
        tiers.add(tier(builder.term(IndexedText.KEYWORDS_FIELD, query.keyword()), ScoreModel.EXACT_TIER));
        optional.add(builder.best(tiers));
        return builder.all(required, filters, optional);
    }

    private Q tier(Q query, int tier) {
        return builder.constantScore(query, model.tier(tier));
    }

    private Q symbolWord(ParsedQuery.SymbolClause symbolWord) {
        return symbolWord.isPrefix()
                ? builder.prefix(IndexedText.SYMBOL_WORDS_FIELD, symbolWord.text())
                : builder.term(IndexedText.SYMBOL_WORDS_FIELD, symbolWord.text());
    }

    private Q bestField(Function<String, Q> queryOf) {
        List<Q> queries = new ArrayList<>();
        for (int weight : builder.weights()) {
            queries.add(builder.addFieldScore(queryOf.apply(builder.wordsField(weight)), weight));
        }
        return builder.best(queries);
    }

    private Q word(String field, ParsedQuery.WordClause word) {
        List<Q> queries = new ArrayList<>();
        queries.add(builder.constantScore(builder.term(field, word.text()), model.exactWordScore()));
        if (word.isPrefix()) {
            queries.add(builder.constantScore(builder.prefix(field, word.text()), model.prefixWordScore()));
        }
        if (word.allowsTypo()) {
            Q typo = word.hasDigits() ? builder.typo(field, word.text()) : builder.fuzzy(field, word.text());
            queries.add(builder.constantScore(typo, 0));
        }
        return builder.best(queries);
    }
}
