package dev.puri.search.words;

import dev.puri.schemas.collection.SearchedAttributes;
import org.apache.lucene.util.SmallFloat;

/**
 * The parts of a hit's score, the same for every engine. A score depends only on the document and the query.
 *
 * <pre>
 * tier   3  one attribute equals the typed text
 *        2  one attribute starts with the typed words
 *        1  one attribute has all words; or the title is the first or the last part of the typed text
 *        0  all words are in some attribute
 *       +4  the typed text is the identity's pURI, handle or identifier
 * word   2  the word itself     1  a word that starts with it     0  a word with one typo
 * field     weight of the attribute × (1 to 2; fewer words in the field give more)
 *
 * score = tier × TIER + for each word (word × WORD + field)
 * </pre>
 *
 * Three smaller bonuses order hits that are equal so far: {@link #ADJACENT_WORDS_BONUS}, {@link #COMPLETION_BONUS} and
 * {@link #TITLE_TYPO_BONUS}.
 *
 * <p>All fields together add less than one word step, and all words together less than one tier. Every part is a
 * multiple of 1/{@value #PARTS} and every score is below 2^19. A float represents such sums exactly, so the order of
 * addition does not matter and a cursor finds its score again.
 */
public final class ScoreModel {
    /** Tier that is added if the typed text is the identity's name. */
    public static final int NAME_TIER = 4;

    /** Tier of a document with an attribute that equals the typed text. */
    public static final int EXACT_TIER = 3;

    /** Tier of a document with an attribute that starts with the typed words. */
    public static final int STARTS_WITH_TIER = 2;

    /** Tier of a document with all words in one attribute. */
    public static final int SAME_ATTRIBUTE_TIER = 1;

    /** Slop of the phrase query for all words in one attribute. It is below {@link #ATTRIBUTE_GAP}. */
    public static final int SAME_ATTRIBUTE_SLOP = 99;

    /** Position increment between two attributes in one field. */
    public static final int ATTRIBUTE_GAP = 100;

    /** Shortest text, in characters, that is looked for as the beginning of an attribute while it is being typed. */
    public static final int MIN_COMPLETION_CHARACTERS = 3;

    /** Bonus if an attribute starts with the text that is still being typed. */
    public static final float COMPLETION_BONUS = 12;

    /** Bonus if the whole title is one typo away from the typed text. */
    public static final float TITLE_TYPO_BONUS = 16;

    /** Bonus, times the attribute's weight, if all words follow one another in the typed order. */
    public static final float ADJACENT_WORDS_BONUS = 0.5f;

    private static final int PARTS = 32;

    /** The number of words at which the length bonus is half of its maximum. */
    private static final double HALF_LENGTH = 8;

    /**
     * Base of a word step, above the largest field part (2 × {@value SearchedAttributes#MAX_BOOST}) and the bonuses.
     */
    private static final int STEP = 24;

    /** Length bonus by Lucene's one-byte norm of a field. */
    private static final float[] LENGTH_FACTOR_BY_NORM = new float[256];

    static {
        for (int norm = 0; norm < LENGTH_FACTOR_BY_NORM.length; norm++) {
            double words = SmallFloat.byte4ToInt((byte) norm);
            LENGTH_FACTOR_BY_NORM[norm] = (float) (1 + Math.rint(PARTS / (1 + words / HALF_LENGTH)) / PARTS);
        }
    }

    private final float wordStep;

    private ScoreModel(int words) {
        wordStep = STEP * (words + 1);
    }

    /** Returns the model for the number of words of a query. */
    public static ScoreModel of(ParsedQuery query) {
        return new ScoreModel(query.words().size());
    }

    /** Returns the score of a word, or of a phrase. */
    public float exactWordScore() {
        return 2 * wordStep;
    }

    /** Returns the score of a word that starts with the typed word. */
    public float prefixWordScore() {
        return wordStep;
    }

    /** Returns the score of a tier; one tier is more than all words and fields can add. */
    public float tier(int tier) {
        return tier * (2 * (wordStep / STEP - 1) + 2) * wordStep;
    }

    /** Returns the factor of 1 to 2 for a field of few words, by Lucene's norm of the field. */
    public static float lengthFactor(long norm) {
        return LENGTH_FACTOR_BY_NORM[(int) norm & 0xff];
    }

    /** Returns the same factor for a number of words. */
    public static float lengthFactorOfWordCount(int words) {
        return lengthFactor(SmallFloat.intToByte4(words));
    }
}
