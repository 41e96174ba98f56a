package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WordCacheTest {
    private final Map<String, Integer> codes = new HashMap<>();
    private final WordCache words = new WordCache(text -> codes.computeIfAbsent(text, t -> codes.size()));

    /** Of two letters, so that most words are like others in all but a byte or two. */
    @Test
    void distinguishesWordsOfAnyLengthAtAnyOffset() {
        Random random = new Random(7);
        for (int i = 0; i < 200_000; i++) {
            StringBuilder text = new StringBuilder();
            for (int left = random.nextInt(41); left > 0; left--) {
                text.append(random.nextInt(8) == 0 ? 'b' : 'a');
            }
            int before = random.nextInt(9);
            byte[] within =
                    ("c".repeat(before) + text + "c".repeat(random.nextInt(9))).getBytes(StandardCharsets.US_ASCII);

            int code = words.code(within, before, before + text.length());

            assertThat(codes.get(text.toString())).as("\"%s\"", text).isEqualTo(code);
        }
    }
}
