package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Highlights of a hit. */
public abstract class HighlightContract extends SearchIndexContract {
    private Map<String, List<String>> of(String typed, String... attributes) throws Exception {
        apply(Item.of("music:tracks:1", attributes));
        return SampleQuery.text(typed).run(index).hits().getFirst().highlights();
    }

    @Test
    void marksMatchesInEachAttribute() throws Exception {
        assertThat(of("moon blu", "title", "Blue Moon", "artist", "Moonlight", "genre", "pop"))
                .isEqualTo(Map.of("title", List.of("<em>Blue</em> <em>Moon</em>")));
        assertThat(of("sonata ", "title", "A Sonat\u00e1, a sonnata"))
                .isEqualTo(Map.of("title", List.of("A <em>Sonat\u00e1</em>, a <em>sonnata</em>")));
    }

    @Test
    void escapesTheText() throws Exception {
        assertThat(of("moon", "title", "<script>alert('moon')</script> & \"moon\""))
                .isEqualTo(
                        Map.of(
                                "title",
                                List.of(
                                        "&lt;script&gt;alert(&#39;<em>moon</em>&#39;)&lt;/script&gt; &amp; &quot;<em>moon</em>&quot;")));
    }

    @Test
    void marksWordsOfAPhraseOnlyTogether() throws Exception {
        assertThat(of("\"blue moon\"", "title", "moon, blue, blue moon", "artist", "blue"))
                .isEqualTo(Map.of("title", List.of("moon, blue, <em>blue</em> <em>moon</em>")));
    }

    @Test
    void returnsFragmentsOfALongText() throws Exception {
        String text = "word ".repeat(2000) + "moon " + "word ".repeat(2000);
        List<String> pieces = of("moon", "body", text).get("body");
        assertThat(pieces).hasSize(1);
        assertThat(pieces.getFirst())
                .contains("<em>moon</em>")
                .startsWith("\u2026")
                .endsWith("\u2026");
        assertThat(pieces.getFirst().length()).isLessThan(300);

        assertThat(of("moon", "body", ("moon " + "word ".repeat(100)).repeat(50))
                        .get("body"))
                .hasSizeBetween(2, 3);
    }
}
