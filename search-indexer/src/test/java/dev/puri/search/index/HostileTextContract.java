package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.search.words.ParsedQuery;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Texts that try to be expensive, or to be query language. */
public abstract class HostileTextContract extends SearchIndexContract {
    @Test
    void boundsTheCostOfHostileTexts() throws Exception {
        Random random = new Random(11);
        for (int i = 0; i < 300; i++) {
            StringBuilder title = new StringBuilder();
            for (int word = 0; word < 12; word++) {
                title.append(Integer.toString(random.nextInt(36 * 36 * 36), 36)).append("aaaa ");
            }
            topics.write(Item.of("music:tracks:" + i, "title", title.toString()));
        }
        apply();
        List<String> hostile = List.of(
                "*",
                "?",
                "**** ???? ~~~~ ^^^",
                "a*".repeat(5000),
                "a* ".repeat(3000),
                "x".repeat(10_000),
                "aaaa ".repeat(1000),
                "\"",
                "\"\"\"",
                "\"\" \"",
                "\"" + "aaaa ".repeat(1000) + "\"",
                "\"aaaa",
                "\u0000\u0001\u0007\u001b[31m\u007f\u0085",
                "\ud800",
                "\udc00 aaaa \ud83d",
                "\u202e\u200b\ufeff\uffff",
                "\ud83d\ude00".repeat(3000),
                "e" + "\u0301".repeat(900),
                "(a AND b) OR title:* +-&&||!{}[]^~:\\/",
                "*:* OR _exists_:title",
                "/.*.*.*.*a/ AND [* TO *]",
                "{\"query\":{\"match_all\":{}}}",
                "\u0300\u0301\u0302",
                words(random, 1000),
                words(random, ParsedQuery.MAX_WORDS),
                "a b c d e f g h i j k l m n o p q r s t u v w x y z ".repeat(20),
                "\u6771".repeat(5000));
        for (String text : hostile) {
            long begun = System.nanoTime();
            SearchResult result = SampleQuery.text(text).run(index);
            assertThat(Duration.ofNanos(System.nanoTime() - begun))
                    .as(text.substring(0, Math.min(40, text.length())))
                    .isLessThan(Duration.ofSeconds(5));
            assertThat(result.total()).isLessThanOrEqualTo(300);
        }
        for (String nothing : List.of("*", "?", "\"\"", "!!!", "\u0000", "\ud800", "\u200b")) {
            assertThat(SampleQuery.text(nothing).run(index))
                    .as(nothing)
                    .isEqualTo(new SearchResult(List.of(), 0, true, Map.of(), Map.of(), null));
        }
    }

    private String words(Random random, int count) {
        StringBuilder words = new StringBuilder();
        for (int i = 0; i < count; i++) {
            words.append((char) ('a' + random.nextInt(26))).append("aaaa ");
        }
        return words.toString();
    }

    @Test
    void acceptsRandomTexts() throws Exception {
        apply(Item.of("music:tracks:1", "title", "moon \ud83d\ude00 <b> \u0301"));
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        String alphabet = "mon a\"*\\\u0000\u0301\ud83d\ude00\u6771<&'-_/:~?\n\t";
        for (int i = 0; i < 300; i++) {
            StringBuilder text = new StringBuilder();
            for (int length = 1 + random.nextInt(20); length > 0; length--) {
                text.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            try {
                if (!text.toString().isBlank()) {
                    SampleQuery.text(text.toString()).run(index);
                }
            } catch (Throwable e) {
                throw new AssertionError("seed " + seed + ": \"" + text + '"', e);
            }
        }
    }
}
