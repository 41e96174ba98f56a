package dev.puri.search.words;

import dev.puri.schemas.collection.SearchedAttributes;
import org.apache.lucene.util.SmallFloat;

/**
 * Computes the parts of a hit's score, the same for every engine. A score depends only on the document and the query.
 *
 * <pre>
 * score = tier × tier step + for each typed word: (word level × word step + field score) + bonuses
 *
 * tier        3  one attribute equals the typed text
 *             2  one attribute starts with the typed words
 *             1  one attribute has all typed words, or the title is the first or the last part of the typed text
 *             0  each typed word is in some attribute
 *            +4  the typed text is the identity's pURI, handle or identifier
 * word level  2  the attribute has the typed word; a phrase counts as one word
 *             1  the attribute has a word that starts with the typed word
 *             0  the attribute has the typed word with one typo
 * field score    weight of the attribute × length factor; the factor is 1 to 2, larger for a field of fewer words
 * bonuses        {@link #ADJACENT_WORDS_BONUS}, {@link #COMPLETION_BONUS}, {@link #TITLE_TYPO_BONUS}
 * </pre>
 *
 * A tier step is more than all words can add, and a word step is more than all field scores and bonuses can add.
 *
 * <p>Every part is a multiple of 1/{@value #PARTS_OF_ONE} and every score is below 2^19. A float represents such
 * numbers exactly. So the order of addition does not matter, and the score in a cursor equals the score of the hit.
 */
public final class ScoreModel {
    /** Added to the tier if the typed text is the identity's pURI, handle or identifier. */
    public static final int NAME_TIER = 4;

    /** Tier of a document with an attribute that equals the typed text. */
    public static final int EXACT_TIER = 3;

    /** Tier of a document with an attribute that starts with the typed words. */
    public static final int STARTS_WITH_TIER = 2;

    /** Tier of a document with all typed words in one attribute. */
    public static final int SAME_ATTRIBUTE_TIER = 1;

    /** Slop of the phrase query for all words in one attribute. A match cannot span {@link #ATTRIBUTE_GAP}. */
    public static final int SAME_ATTRIBUTE_SLOP = 99;

    /** Lucene's position increment between two attributes in one field. */
    public static final int ATTRIBUTE_GAP = 100;

    /** Minimum length of a typed text to which {@link #COMPLETION_BONUS} applies, in characters. */
    public static final int MIN_COMPLETION_CHARACTERS = 3;

    /** Bonus if an attribute starts with the typed text, whose last word may be unfinished. */
    public static final float COMPLETION_BONUS = 12;

    /** Bonus if the title is one typo away from the typed text. */
    public static final float TITLE_TYPO_BONUS = 16;

    /** Bonus per unit of the attribute's weight if the typed words follow one another in the typed order. */
    public static final float ADJACENT_WORDS_BONUS = 0.5f;

    private static final int PARTS_OF_ONE = 32;

    /** Number of words in a field at which the length factor is 1.5. */
    private static final double MIDDLE_WORD_COUNT = 8;

    /**
     * A word step is this number times (number of typed words + 1). So it exceeds the sum of all field scores, each at
     * most 2 × {@value SearchedAttributes#MAX_WEIGHT}, and of the bonuses.
     */
    private static final int WORD_STEP_BASE = 24;

    /** Length factor by norm. Lucene encodes the number of words of a field in one byte, the norm. */
    private static final float[] LENGTH_FACTOR_BY_NORM = new float[256];

    static {
        for (int norm = 0; norm < LENGTH_FACTOR_BY_NORM.length; norm++) {
            double wordCount = SmallFloat.byte4ToInt((byte) norm);
            double parts = Math.rint(PARTS_OF_ONE / (1 + wordCount / MIDDLE_WORD_COUNT));
            LENGTH_FACTOR_BY_NORM[norm] = (float) (1 + parts / PARTS_OF_ONE);
        }
    }

    private final int wordCount;
    private final float wordStep;

    private ScoreModel(int wordCount) {
        this.wordCount = wordCount;
        wordStep = WORD_STEP_BASE * (wordCount + 1);
    }

    /** Returns the model for a query. The steps grow with its number of words. */
    public static ScoreModel of(ParsedQuery query) {
        return new ScoreModel(query.words().size());
    }

    /** Returns the score of the typed word, or of a phrase, without the field score. */
    public float exactWordScore() {
        return 2 * wordStep;
    }

    /** Returns the score of a word that starts with the typed word, without the field score. */
    public float prefixWordScore() {
        return wordStep;
    }

    /** Returns the score of a tier. */
    public float tierScore(int tier) {
        // All words together add less than (2 × words + 1) word steps.
        return tier * (2 * wordCount + 2) * wordStep;
    }

    /** Returns the length factor of a field with this Lucene norm. */
    public static float lengthFactor(long norm) {
        return LENGTH_FACTOR_BY_NORM[(int) norm & 0xff];
    }

    /** Returns the length factor of a field with this number of words. */
    public static float lengthFactorOfWordCount(int wordCount) {
        return lengthFactor(SmallFloat.intToByte4(wordCount));
    }
}
