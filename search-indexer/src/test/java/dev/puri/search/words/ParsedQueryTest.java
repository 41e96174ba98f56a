package dev.puri.search.words;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.lucene.util.automaton.Operations;
import org.junit.jupiter.api.Test;

final class ParsedQueryTest {
    @Test
    void theLastWordIsAPrefixUntilABlank() {
        assertThat(ParsedQuery.parse("Blue moon").clauses())
                .containsExactly(
                        new ParsedQuery.WordClause("blue", false, true),
                        new ParsedQuery.WordClause("moon", true, true));
        assertThat(ParsedQuery.parse("moon ").clauses())
                .containsExactly(new ParsedQuery.WordClause("moon", false, true));
        assertThat(ParsedQuery.parse("moon!").clauses())
                .containsExactly(new ParsedQuery.WordClause("moon", false, true));
    }

    @Test
    void anAsteriskMakesAPrefixWithoutTypos() {
        assertThat(ParsedQuery.parse("beet* *x").clauses())
                .containsExactly(
                        new ParsedQuery.WordClause("beet", true, false), new ParsedQuery.WordClause("x", true, false));
    }

    @Test
    void quotationMarksMakePhrases() {
        assertThat(ParsedQuery.parse("a \"Blue  Moon\" b ").clauses())
                .containsExactly(
                        new ParsedQuery.WordClause("a", false, false),
                        new ParsedQuery.PhraseClause(List.of("blue", "moon")),
                        new ParsedQuery.WordClause("b", false, false));
        assertThat(ParsedQuery.parse("\"moon\"").clauses())
                .containsExactly(new ParsedQuery.WordClause("moon", false, false));
        assertThat(ParsedQuery.parse("\"blue mo").clauses())
                .containsExactly(
                        new ParsedQuery.WordClause("blue", false, true), new ParsedQuery.WordClause("mo", true, false));
        assertThat(ParsedQuery.parse("\"\" \"!\" \"").clauses()).isEmpty();
    }

    @Test
    void symbolsOfAWordMakeAnotherClause() {
        assertThat(ParsedQuery.parse("g++").clauses())
                .containsExactly(
                        new ParsedQuery.SymbolClause("g++", true), new ParsedQuery.WordClause("g", false, false));
        assertThat(ParsedQuery.parse("C# .NET tools ").clauses())
                .containsExactly(
                        new ParsedQuery.SymbolClause("c#", false),
                        new ParsedQuery.SymbolClause(".net", false),
                        new ParsedQuery.WordClause("c", false, false),
                        new ParsedQuery.WordClause("net", false, false),
                        new ParsedQuery.WordClause("tools", false, true));
        assertThat(ParsedQuery.parse("AT&T ").clauses())
                .containsExactly(
                        new ParsedQuery.SymbolClause("at&t", false),
                        new ParsedQuery.WordClause("at", false, false),
                        new ParsedQuery.WordClause("t", false, false));
        assertThat(ParsedQuery.parse("libstdc++6 ").clauses())
                .containsExactly(
                        new ParsedQuery.SymbolClause("libstdc++", false),
                        new ParsedQuery.WordClause("libstdc", false, false),
                        new ParsedQuery.WordClause("6", false, false));
        for (String without :
                List.of("salt+pepper ", "a#b ", "simon&garfunkel ", "ac/dc ", "1.5 ", "so... what ", "+ # & . ")) {
            assertThat(ParsedQuery.parse(without).clauses())
                    .as(without)
                    .doesNotHaveAnyElementsOfTypes(ParsedQuery.SymbolClause.class);
        }
    }

    /** An index refuses terms of more than 32,766 bytes, and an event has attributes of up to 32,768 bytes. */
    @Test
    void symbolWordsAreBounded() {
        String text = "c" + "+#".repeat(16_383);
        IndexedText indexed = IndexedText.of(Map.of("t", text), SearchedAttributes.DEFAULT);
        assertThat(indexed.symbolWords())
                .singleElement()
                .satisfies(word -> assertThat(word).hasSizeLessThan(100));
        assertThat(ParsedQuery.parse(text + ' ').clauses())
                .contains(new ParsedQuery.SymbolClause(
                        indexed.symbolWords().iterator().next(), false));
    }

    @Test
    void apostrophesDivideWords() {
        for (String text : List.of("rock'n'roll", "rock \u2019n\u2019 roll", "rock n roll")) {
            ParsedQuery query = ParsedQuery.parse(text);
            assertThat(query.words()).as(text).containsExactly("rock", "n", "roll");
            assertThat(query.keyword()).isEqualTo("rock n roll");
        }
    }

    @Test
    void theKeywordJoinsWordsWithTheirSymbols() {
        assertThat(ParsedQuery.parse("  \"C++\", and LibreOffice-Writer! ").keyword())
                .isEqualTo("c++ and libreoffice writer");
        String longer = "word ".repeat(40);
        assertThat(ParsedQuery.parse(longer).keyword())
                .hasSizeLessThan(70)
                .startsWith("word word")
                .isNotEqualTo(ParsedQuery.parse(longer + "more").keyword());
        assertThat(ParsedQuery.parse(longer).wholeWordsPrefix()).isNull();
        assertThat(ParsedQuery.parse("bash shell script").possibleTitles())
                .containsExactlyInAnyOrder("bash", "bash shell", "shell script", "script");
    }

    @Test
    void aTypoInAWordWithDigitsKeepsThem() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        int typos = 0;
        for (int i = 0; i < 20_000; i++) {
            String a = word(random, '1', '2', 'a', '+') + '1';
            String b = random.nextBoolean()
                    ? word(random, '1', '2', 'a', '+') + '1'
                    : '1' + a.substring(0, a.length() - 1);
            boolean typo = distance(a, b) <= 1 && a.replaceAll("[^0-9]", "").equals(b.replaceAll("[^0-9]", ""));
            typos += typo ? 1 : 0;
            assertThat(b.matches(TypoPatterns.regex(a)) || a.equals(b))
                    .as("seed %d: %s, %s, %s", seed, a, b, TypoPatterns.regex(a))
                    .isEqualTo(typo);
            assertThat(Operations.run(TypoPatterns.automaton(a), b) || a.equals(b))
                    .as("seed %d: %s, %s", seed, a, b)
                    .isEqualTo(typo);
            assertThat(new ParsedQuery.WordClause(a, false, true).matches(b))
                    .as("seed %d: %s, %s", seed, a, b)
                    .isEqualTo(typo);
        }
        assertThat(typos).isGreaterThan(500);
        assertThat(ParsedQuery.parse("1998 ").clauses())
                .containsExactly(new ParsedQuery.WordClause("1998", false, false));
        assertThat(TypoPatterns.regex("x".repeat(48)).length()).isLessThan(8_000);
    }

    @Test
    void aTextMayBeAName() {
        NameCandidates puri = NameCandidates.parse(" Music:Tracks:One ");
        assertThat(puri.puri()).isEqualTo(Puri.parse("music:tracks:one"));
        assertThat(puri.handle()).isNull();
        assertThat(NameCandidates.parse("TRK_123456789abcdef").handle()).isEqualTo(new Handle("trk_123456789abcdef"));
        assertThat(NameCandidates.parse("libc6:amd64").identifiers()).containsExactly("libc6%3Aamd64");
        assertThat(NameCandidates.parse("libc6%3aamd64").identifiers())
                .containsExactly("libc6%253aamd64", "libc6%3Aamd64");
        assertThat(NameCandidates.parse(" ").isEmpty()).isTrue();
        assertThat(NameCandidates.parse("x".repeat(1000)).isEmpty()).isTrue();
        assertThat(NameCandidates.parse("\u0000\ud800").isEmpty()).isTrue();
    }

    @Test
    void repeatedWordsMakeOneClause() {
        assertThat(ParsedQuery.parse("a a A \u00e1 ").clauses()).hasSize(1);
    }

    @Test
    void wordsAreBounded() {
        StringBuilder many = new StringBuilder();
        for (int i = 0; i < 1000; i++) {
            many.append(Integer.toString(i, 36)).append(' ');
        }
        assertThat(ParsedQuery.parse(many.toString()).clauses()).hasSize(ParsedQuery.MAX_WORDS);
        assertThat(ParsedQuery.parse(many.toString().replace(" ", "# ")).clauses())
                .as("words and words with symbols")
                .hasSize(2 * ParsedQuery.MAX_WORDS);
        assertThat(ParsedQuery.parse('"' + many.toString() + '"').clauses())
                .as("the limit cuts off the closing quotation mark")
                .hasSize(ParsedQuery.MAX_WORDS);
        assertThat(ParsedQuery.parse("\"" + "a ".repeat(300) + "\"").clauses())
                .containsExactly(new ParsedQuery.PhraseClause(Collections.nCopies(ParsedQuery.MAX_WORDS, "a")));
        assertThat(ParsedQuery.parse("x".repeat(100_000)).clauses().size()).isLessThan(5);
    }

    @Test
    void aPhraseEndsAtTheWordLimit() {
        String words = "a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4 ";
        assertThat(ParsedQuery.parse(words + "\"x y z\"").clauses())
                .hasSize(31)
                .endsWith(new ParsedQuery.PhraseClause(List.of("x", "y")));
        assertThat(ParsedQuery.parse(words + "5 \"aa bb cc\" \"a b\" c").clauses())
                .hasSize(32)
                .endsWith(
                        new ParsedQuery.WordClause("5", false, false), new ParsedQuery.WordClause("aa", false, false));
    }

    @Test
    void aTypoIsOneEditOrTwoSwappedNeighbours() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        int typos = 0;
        for (int i = 0; i < 20_000; i++) {
            String a = word(random);
            String b = word(random);
            boolean typo = distance(a, b) <= 1;
            typos += typo ? 1 : 0;
            assertThat(new ParsedQuery.WordClause(a, false, true).matches(b))
                    .as("seed %d: %s, %s", seed, a, b)
                    .isEqualTo(typo);
        }
        assertThat(typos).isGreaterThan(1000);
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

    /** The optimal string alignment distance by dynamic programming. */
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
