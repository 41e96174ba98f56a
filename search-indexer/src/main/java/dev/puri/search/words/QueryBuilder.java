package dev.puri.search.words;

import java.util.Collection;
import java.util.List;

/**
 * Builds queries in the form of one engine. {@link RankedQueries} decides which queries to build.
 *
 * <p>The index has one words field for each attribute weight; {@link #wordsField} returns its name. {@link IndexedText}
 * has the names of the other fields.
 *
 * @param <Q> the type of the engine's queries
 */
public interface QueryBuilder<Q> {
    /** Returns the attribute weights for which the index has a words field. */
    List<Integer> fieldWeights();

    /** Returns the name of the field with the words of all attributes that have a weight. */
    String wordsField(int weight);

    /** Returns a query for documents that have a term. */
    Q term(String field, String text);

    /** Returns a query for documents that have at least one of several terms. */
    Q anyTerm(String field, Collection<String> texts);

    /** Returns a query for documents that have a term that starts with a text. */
    Q prefix(String field, String text);

    /** Returns a query for documents that have a term at most one edit away from a text; an edit may change a digit. */
    Q fuzzy(String field, String text);

    /** Returns a query for documents that have a term one edit away from a text with the same digits. */
    Q fuzzyKeepingDigits(String field, String text);

    /**
     * Returns a query for documents that have words close to one another.
     *
     * @param slop 0: the words follow one another in this order; otherwise the words are in any order, with up to this
     *     number of other words between them
     */
    Q phrase(String field, List<String> words, int slop);

    /** Returns a query with the matches of another query, all with the same score. */
    Q constantScore(Q query, float score);

    /**
     * Returns a query that adds the field score to the score of another query: the weight times
     * {@link ScoreModel#lengthFactor}.
     *
     * @param query a query on the words field of this weight
     */
    Q addFieldScore(Q query, int weight);

    /** Returns a query for the documents that match at least one query; the highest score counts. */
    Q disMax(List<Q> queries);

    /**
     * Returns a query for the documents that match all required queries and all filters. The score is the sum of the
     * scores of the required queries and of the matching optional queries.
     */
    Q bool(List<Q> required, List<Q> filters, List<Q> optional);
}
