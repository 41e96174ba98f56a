package dev.puri.search.words;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class WantedTest {
    @Test
    void theLastWordIsOpenWhileItIsTyped() {
        assertThat(Wanted.parse("Blue moon").clauses())
                .containsExactly(new Wanted.Word("blue", false, true), new Wanted.Word("moon", true, true));
        assertThat(Wanted.parse("moon ").clauses()).containsExactly(new Wanted.Word("moon", false, true));
        assertThat(Wanted.parse("moon!").clauses()).containsExactly(new Wanted.Word("moon", false, true));
    }

    @Test
    void aStarOpensAWordAndForgivesNoSlip() {
        assertThat(Wanted.parse("beet* *x").clauses())
                .containsExactly(new Wanted.Word("beet", true, false), new Wanted.Word("x", true, false));
    }

    @Test
    void quotationMarksMakePhrases() {
        assertThat(Wanted.parse("a \"Blue  Moon\" b ").clauses())
                .containsExactly(
                        new Wanted.Word("a", false, false),
                        new Wanted.Phrase(List.of("blue", "moon")),
                        new Wanted.Word("b", false, false));
        assertThat(Wanted.parse("\"moon\"").clauses()).containsExactly(new Wanted.Word("moon", false, false));
        assertThat(Wanted.parse("\"blue mo").clauses())
                .containsExactly(new Wanted.Word("blue", false, true), new Wanted.Word("mo", true, false));
        assertThat(Wanted.parse("\"\" \"!\" \"").clauses()).isEmpty();
    }

    @Test
    void whatIsTypedTwiceIsWantedOnce() {
        assertThat(Wanted.parse("a a A \u00e1 ").clauses()).hasSize(1);
    }

    @Test
    void wordsAreBounded() {
        StringBuilder many = new StringBuilder();
        for (int i = 0; i < 1000; i++) {
            many.append(Integer.toString(i, 36)).append(' ');
        }
        assertThat(Wanted.parse(many.toString()).clauses()).hasSize(Wanted.MAX_WORDS);
        assertThat(Wanted.parse('"' + many.toString() + '"').clauses())
                .as("an open phrase, as its end is cut off")
                .hasSize(Wanted.MAX_WORDS);
        assertThat(Wanted.parse("\"" + "a ".repeat(300) + "\"").clauses())
                .containsExactly(new Wanted.Phrase(Collections.nCopies(Wanted.MAX_WORDS, "a")));
        assertThat(Wanted.parse("x".repeat(100_000)).clauses().size()).isLessThan(5);
    }

    @Test
    void aPhraseHasTheWordsThatAreLeft() {
        String words = "a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 ";
        assertThat(Wanted.parse(words + "\"x y z\"").clauses())
                .hasSize(31)
                .endsWith(new Wanted.Phrase(List.of("x", "y")));
        assertThat(Wanted.parse(words + "5 \"aa bb cc\" \"a b\" c").clauses())
                .hasSize(32)
                .endsWith(new Wanted.Word("5", false, false), new Wanted.Word("aa", false, false));
    }

    @Test
    void aSlipIsOneChangeOrTwoNeighboursSwapped() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        int slips = 0;
        for (int i = 0; i < 20_000; i++) {
            String a = word(random);
            String b = word(random);
            boolean slip = distance(a, b) <= 1;
            slips += slip ? 1 : 0;
            assertThat(new Wanted.Word(a, false, true).isMetBy(b))
                    .as("seed %d: %s, %s", seed, a, b)
                    .isEqualTo(slip);
        }
        assertThat(slips).isGreaterThan(1000);
    }

    private static String word(Random random) {
        StringBuilder word = new StringBuilder();
        for (int length = random.nextInt(6); length > 0; length--) {
            word.appendCodePoint(new int[] {'a', 'b', 'c', 0x1d4d0}[random.nextInt(4)]);
        }
        return word.toString();
    }

    /** Optimal string alignment, as in the books. */
    private static int distance(String one, String other) {
        int[] a = one.codePoints().toArray();
        int[] b = other.codePoints().toArray();
        int[][] d = new int[a.length + 1][b.length + 1];
        for (int i = 0; i <= a.length; i++) {
            for (int j = 0; j <= b.length; j++) {
                if (i == 0 || j == 0) {
                    d[i][j] = i + j;
                    continue;
                }
                int change = a[i - 1] == b[j - 1] ? 0 : 1;
                d[i][j] = Math.min(Math.min(d[i - 1][j] + 1, d[i][j - 1] + 1), d[i - 1][j - 1] + change);
                if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                    d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
                }
            }
        }
        return d[a.length][b.length];
    }
}
