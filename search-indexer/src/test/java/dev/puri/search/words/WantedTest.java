package dev.puri.search.words;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.lucene.util.automaton.Operations;
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
    void signsThatBelongToAWordAreWantedBesideIt() {
        assertThat(Wanted.parse("g++").clauses())
                .containsExactly(new Wanted.Signed("g++", true), new Wanted.Word("g", false, false));
        assertThat(Wanted.parse("C# .NET tools ").clauses())
                .containsExactly(
                        new Wanted.Signed("c#", false),
                        new Wanted.Signed(".net", false),
                        new Wanted.Word("c", false, false),
                        new Wanted.Word("net", false, false),
                        new Wanted.Word("tools", false, true));
        assertThat(Wanted.parse("AT&T ").clauses())
                .containsExactly(
                        new Wanted.Signed("at&t", false),
                        new Wanted.Word("at", false, false),
                        new Wanted.Word("t", false, false));
        assertThat(Wanted.parse("libstdc++6 ").clauses())
                .containsExactly(
                        new Wanted.Signed("libstdc++", false),
                        new Wanted.Word("libstdc", false, false),
                        new Wanted.Word("6", false, false));
        for (String without :
                List.of("salt+pepper ", "a#b ", "simon&garfunkel ", "ac/dc ", "1.5 ", "so... what ", "+ # & . ")) {
            assertThat(Wanted.parse(without).clauses()).as(without).doesNotHaveAnyElementsOfTypes(Wanted.Signed.class);
        }
    }

    @Test
    void apostrophesDivideWords() {
        for (String text : List.of("rock'n'roll", "rock \u2019n\u2019 roll", "rock n roll")) {
            Wanted wanted = Wanted.parse(text);
            assertThat(wanted.words()).as(text).containsExactly("rock", "n", "roll");
            assertThat(wanted.whole()).isEqualTo("rock n roll");
        }
    }

    @Test
    void aWholeAttributeIsItsWordsWithTheirSigns() {
        assertThat(Wanted.parse("  \"C++\", and LibreOffice-Writer! ").whole()).isEqualTo("c++ and libreoffice writer");
        String longer = "word ".repeat(40);
        assertThat(Wanted.parse(longer).whole())
                .hasSizeLessThan(70)
                .startsWith("word word")
                .isNotEqualTo(Wanted.parse(longer + "more").whole());
        assertThat(Wanted.parse(longer).beginning()).isNull();
        assertThat(Wanted.parse("bash shell script").parts())
                .containsExactlyInAnyOrder("bash", "bash shell", "shell script", "script");
    }

    @Test
    void aSlipInAWordWithDigitsLeavesThemAsTheyAre() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        int slips = 0;
        for (int i = 0; i < 20_000; i++) {
            String a = word(random, '1', '2', 'a', '+') + '1';
            String b = random.nextBoolean()
                    ? word(random, '1', '2', 'a', '+') + '1'
                    : '1' + a.substring(0, a.length() - 1);
            boolean slip = distance(a, b) <= 1 && a.replaceAll("[^0-9]", "").equals(b.replaceAll("[^0-9]", ""));
            slips += slip ? 1 : 0;
            assertThat(b.matches(Slips.expression(a)) || a.equals(b))
                    .as("seed %d: %s, %s, %s", seed, a, b, Slips.expression(a))
                    .isEqualTo(slip);
            assertThat(Operations.run(Slips.automaton(a), b) || a.equals(b))
                    .as("seed %d: %s, %s", seed, a, b)
                    .isEqualTo(slip);
            assertThat(new Wanted.Word(a, false, true).isMetBy(b))
                    .as("seed %d: %s, %s", seed, a, b)
                    .isEqualTo(slip);
        }
        assertThat(slips).isGreaterThan(500);
        assertThat(Wanted.parse("1998 ").clauses()).containsExactly(new Wanted.Word("1998", false, false));
        assertThat(Slips.expression("x".repeat(48)).length()).isLessThan(8_000);
    }

    @Test
    void whatIsTypedMayBeAName() {
        Names puri = Names.of(" Music:Tracks:One ");
        assertThat(puri.puri()).isEqualTo(Puri.parse("music:tracks:one"));
        assertThat(puri.handle()).isNull();
        assertThat(Names.of("TRK_123456789abcdef").handle()).isEqualTo(new Handle("trk_123456789abcdef"));
        assertThat(Names.of("libc6:amd64").identifiers()).containsExactly("libc6%3Aamd64");
        assertThat(Names.of("libc6%3aamd64").identifiers()).containsExactly("libc6%253aamd64", "libc6%3Aamd64");
        assertThat(Names.of(" ").areNone()).isTrue();
        assertThat(Names.of("x".repeat(1000)).areNone()).isTrue();
        assertThat(Names.of("\u0000\ud800").areNone()).isTrue();
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
        return word(random, 'a', 'b', 'c', 0x1d4d0);
    }

    private static String word(Random random, int... alphabet) {
        StringBuilder word = new StringBuilder();
        for (int length = random.nextInt(6); length > 0; length--) {
            word.appendCodePoint(alphabet[random.nextInt(alphabet.length)]);
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
