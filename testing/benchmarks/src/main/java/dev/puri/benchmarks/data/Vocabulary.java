package dev.puri.benchmarks.data;

import java.util.List;
import java.util.Random;

/** Invented words. Their frequencies follow Zipf's law, as in a language, and frequent words are shorter. */
public final class Vocabulary {
    private static final int WORDS = 40_000;

    /** Number of the most frequent words, which people do not search for, like "the" and "of". */
    private static final int STOP_WORDS = 20;

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

    /** Returns the word of a rank. Words differ, because the factor and the number of possible words are coprime. */
    private static String word(long rank, int syllables) {
        long wordCount = (long) Math.pow(SYLLABLES, syllables);
        StringBuilder word = new StringBuilder();
        for (long rest = rank * 61_195_313L % wordCount; word.length() < 2 * syllables; rest /= SYLLABLES) {
            int syllable = (int) (rest % SYLLABLES);
            word.append(CONSONANTS.charAt(syllable / VOWELS.length()))
                    .append(VOWELS.charAt(syllable % VOWELS.length()));
        }
        return word.toString();
    }

    /** Returns all words, the most frequent first. */
    public static List<String> all() {
        return List.of(BY_RANK);
    }

    /** Draws a word with its frequency in texts. */
    public static String word(Random random) {
        return BY_RANK[(int) ZIPF.rank(random)];
    }

    /** Draws a word for a search: its rank is log-uniform, so that frequent and rare words are searched for. */
    public static String searchWord(Random random) {
        return BY_RANK[(int) (STOP_WORDS * Math.pow((double) WORDS / STOP_WORDS, random.nextDouble()))];
    }

    /** Draws a text with this number of words. */
    public static String text(int words, Random random) {
        StringBuilder text = new StringBuilder(word(random));
        for (int i = 1; i < words; i++) {
            text.append(' ').append(word(random));
        }
        return text.toString();
    }
}
