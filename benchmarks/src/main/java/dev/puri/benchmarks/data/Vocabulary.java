package dev.puri.benchmarks.data;

import java.util.List;
import java.util.Random;

/** Made-up words, the frequent ones shorter, drawn as words of a language are (Zipf's law). */
public final class Vocabulary {
    private static final int WORDS = 40_000;

    /** These are like "the" and "of", which nobody searches for alone. */
    private static final int TOO_COMMON = 20;

    private static final String CONSONANTS = "bcdfghjklmnprstvwxyz";
    private static final String VOWELS = "aeiou";
    private static final int SYLLABLES = CONSONANTS.length() * VOWELS.length();

    private static final String[] BY_RANK = new String[WORDS];
    private static final Zipf ZIPF = new Zipf(WORDS, 0.99);

    static {
        for (int rank = 0; rank < WORDS; rank++) {
            BY_RANK[rank] = rank < 1000 ? word(rank, 2) : word(rank, 3 + rank % 2);
        }
    }

    private Vocabulary() {}

    /** Returns the word of a rank, one to one: the factor and the number of words have no common divisor. */
    private static String word(long rank, int syllables) {
        long space = (long) Math.pow(SYLLABLES, syllables);
        StringBuilder word = new StringBuilder();
        for (long left = rank * 61_195_313L % space; word.length() < 2 * syllables; left /= SYLLABLES) {
            int syllable = (int) (left % SYLLABLES);
            word.append(CONSONANTS.charAt(syllable / VOWELS.length()))
                    .append(VOWELS.charAt(syllable % VOWELS.length()));
        }
        return word.toString();
    }

    /** Returns all words, the most frequent first. */
    public static List<String> all() {
        return List.of(BY_RANK);
    }

    /** Draws a word as texts have them. */
    public static String word(Random random) {
        return BY_RANK[(int) ZIPF.rank(random)];
    }

    /** Draws a word that somebody searches for, frequent ones and rare ones alike. */
    public static String wanted(Random random) {
        return BY_RANK[(int) (TOO_COMMON * Math.pow((double) WORDS / TOO_COMMON, random.nextDouble()))];
    }

    /** Draws a text. */
    public static String text(int words, Random random) {
        StringBuilder text = new StringBuilder(word(random));
        for (int i = 1; i < words; i++) {
            text.append(' ').append(word(random));
        }
        return text.toString();
    }
}
