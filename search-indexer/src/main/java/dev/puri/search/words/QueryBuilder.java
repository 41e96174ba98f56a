package dev.puri.search.words;

import java.util.Collection;
import java.util.List;

/**
 * Builds the queries of one engine, which {@link RankedQuery} combines. Fields are those of {@link IndexedText} and
 * {@link #wordsField}.
 *
 * @param <Q> a query of the engine
 */
public interface QueryBuilder<Q> {
    /** Returns the attribute weights for which the index has a field. */
    List<Integer> weights();

    /** Returns the field with the words of all attributes of a weight. */
    String wordsField(int weight);

    /** Matches a term. */
    Q term(String field, String text);

    /** Matches any of several terms. */
    Q anyTerm(String field, Collection<String> texts);

    /** Matches terms that start with a text. */
    Q prefix(String field, String text);

    /** Matches terms that are one typo away, whichever characters it changes. */
    Q fuzzy(String field, String text);

    /** Matches the terms of a {@link TypoPattern}. */
    Q typo(String field, String text);

    /**
     * Matches words close to one another.
     *
     * @param slop 0 matches the words one after the other; a larger slop matches them in any order, with that many
     *     other words between them
     */
    Q phrase(String field, List<String> words, int slop);

    /** Gives every match of a query the same score. */
    Q constantScore(Q query, float score);

    /** Adds the weight of a field, times its length bonus, to the score of a query on this field. */
    Q addFieldScore(Q query, int weight);

    /** Matches any of several queries; the score is the best of theirs. */
    Q best(List<Q> queries);

    /**
     * Matches all required queries and all filters; the score is the sum of the required and of the matching optional
     * queries.
     */
    Q all(List<Q> required, List<Q> filters, List<Q> optional);
}
