package dev.puri.search.lucene;

import dev.puri.search.words.Weights;
import org.apache.lucene.search.CollectionStatistics;
import org.apache.lucene.search.TermStatistics;
import org.apache.lucene.search.similarities.Similarity;
import org.apache.lucene.util.SmallFloat;

/**
 * How well a field fits a word: between 1 and 2 times the clause's weight, the more, the shorter the field is and
 * the more often the word stands in it. With weights that halve, no number of beginnings beats the word itself.
 *
 * <p>Unlike BM25 it knows nothing of other documents. Every hit has all words that are looked for, so how rare
 * each is decides little; and a score that no other document changes makes a cursor of a score and a hash of the pURI
 * exact, whatever is written between two pages.
 */
final class Closeness extends Similarity {
    /** By the byte that Lucene keeps of a field's length. */
    private static final float[] WORDS = new float[256];

    static {
        for (int norm = 0; norm < WORDS.length; norm++) {
            WORDS[norm] = SmallFloat.byte4ToInt((byte) norm);
        }
    }

    @Override
    public SimScorer scorer(float weight, CollectionStatistics collection, TermStatistics... terms) {
        return new SimScorer() {
            @Override
            public float score(float frequency, long norm) {
                return weight * (1 + frequency / (frequency + WORDS[(int) norm & 0xff] / Weights.HALF_LENGTH));
            }
        };
    }
}
