package dev.puri.search.words;

import dev.puri.schemas.collection.SearchedAttributes;
import org.apache.lucene.util.SmallFloat;

/**
 * What a hit's score is made of, the same in every engine. It depends on the document and on what was typed alone.
 *
 * <pre>
 * tier   3  an attribute is what was typed
 *        2  an attribute begins with its words
 *        1  one attribute has all words; or the title is the beginning or the end of what was typed
 *        0  all words are somewhere
 *       +4  the object's pURI, handle or identifier is what was typed
 * word   2  the word itself     1  a word that begins with it     0  a word that is a slip away
 * place     weight of the attribute × (1 to 2, the more, the fewer words there are beside it)
 *
 * score = tier × TIER + for each word (word × WORD + place)
 * </pre>
 *
 * Where the rest is equal, it also counts whether words stand one after the other ({@link #IN_ORDER}), whether an
 * attribute begins with what is still typed ({@link #TYPED_ON}), and whether the title is as a whole a slip away
 * ({@link #WHOLE_SLIP}).
 *
 * With constants such that no number of places outweighs a word, and no number of words a tier. Everything is a
 * multiple of 1/{@value #PARTS} and below 2^19, which a float has exactly: sums are the same in whatever order an
 * engine adds them up, and a cursor's score is met again.
 */
public final class ScoreModel {
    /** Tiers. */
    public static final int NAMED = 4;

    public static final int EQUAL = 3;
    public static final int BEGINS = 2;
    public static final int TOGETHER = 1;

    /** TextAnalysis that may stand between those of one attribute that are looked for: fewer than between two attributes. */
    public static final int SLOP = 99;

    /** Positions between the last word of an attribute and the first of the next one of the same weight. */
    public static final int GAP = 100;

    /** What is still typed is looked for as the beginning of an attribute from so many characters on. */
    public static final int MIN_TYPED_ON = 3;

    /** An attribute that begins with what is still typed. */
    public static final float TYPED_ON = 12;

    /** A title that is as a whole a slip away from what was typed. */
    public static final float WHOLE_SLIP = 16;

    /** Each attribute's weight times so much, for words that stand one after the other. */
    public static final float IN_ORDER = 0.5f;

    private static final int PARTS = 32;

    /** TextAnalysis that halve what few words add. */
    private static final double HALF_LENGTH = 8;

    /** Times words and one: more than their places can add, 2 × {@value SearchedAttributes#MAX_BOOST} each, and the rest. */
    private static final int STEP = 24;

    /** By the byte that an index keeps of a field's length. */
    private static final float[] BY_NORM = new float[256];

    static {
        for (int norm = 0; norm < BY_NORM.length; norm++) {
            double words = SmallFloat.byte4ToInt((byte) norm);
            BY_NORM[norm] = (float) (1 + Math.rint(PARTS / (1 + words / HALF_LENGTH)) / PARTS);
        }
    }

    private final float word;

    private ScoreModel(int words) {
        word = STEP * (words + 1);
    }

    /** Of a query. */
    public static ScoreModel of(ParsedQuery wanted) {
        return new ScoreModel(wanted.words().size());
    }

    /** What the word itself adds, or a phrase. */
    public float word() {
        return 2 * word;
    }

    /** What a word adds that begins with it. */
    public float beginning() {
        return word;
    }

    /** What a tier adds: more than all words and places can. */
    public float tier(int tier) {
        return tier * (2 * (word / STEP - 1) + 2) * word;
    }

    /** What few words add: 1 to 2, for Lucene's encoded length of a field. */
    public static float shortness(long norm) {
        return BY_NORM[(int) norm & 0xff];
    }

    /** The same for so many words. */
    public static float shortnessOf(int words) {
        return shortness(SmallFloat.intToByte4(words));
    }
}
