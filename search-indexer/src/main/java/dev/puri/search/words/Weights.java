package dev.puri.search.words;

/**
 * What each way to meet a word counts, in every engine, so that all put the same first. They halve, because being
 * in a short text makes up to twice of each: no number of beginnings beats the word itself.
 */
public final class Weights {
    /** The word, or a phrase. */
    public static final float WORD = 1;

    /** A word that begins with it. */
    public static final float BEGINNING = 0.5f;

    /** A word that is a slip away. */
    public static final float SLIP = 0.25f;

    /** All words that were typed one after the other, beside what each counts. */
    public static final float TOGETHER = 0.5f;

    /** Words of a text that adds half of what the shortest adds. */
    public static final float HALF_LENGTH = 8;

    private Weights() {}
}
