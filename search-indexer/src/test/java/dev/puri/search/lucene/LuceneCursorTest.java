package dev.puri.search.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.FakeTopics;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.Item;
import dev.puri.search.index.SearchIndex;
import dev.puri.search.index.TestQuery;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pages of a text whose words are more and more between them. */
final class LuceneCursorTest {
    private static final int STEADY = 40;

    @TempDir
    private Path folder;

    private final FakeTopics log = new FakeTopics();
    private int written;

    private void write(SearchIndex index, String puri, int count) throws IndexUnavailableException {
        int given = log.size();
        for (int i = 0; i < count; i++) {
            String word = "word" + Integer.toString(written++, 36);
            log.write(Item.of(puri + i, "title", word + " more".repeat(written % 7)));
        }
        index.apply(log.since(given));
        index.refresh();
    }

    @Test
    void nothingIsPassedOverHoweverManyWordsAreWrittenBetweenPages() throws Exception {
        try (LuceneStore home = new LuceneStore(folder, new CursorSeal(new byte[32]))) {
            SearchIndex index = home.serving();
            write(index, "music:tracks:", STEADY);
            int[] page = {0};
            List<String> found = TestQuery.text("wo").limit(10).allPagesOf(index, () -> {
                try {
                    write(index, "music:noise:" + page[0] + "-", page[0]++ == 0 ? 3_000 : 0);
                } catch (IndexUnavailableException e) {
                    throw new AssertionError(e);
                }
            });
            assertThat(found).doesNotHaveDuplicates();
            List<String> steady = new ArrayList<>(found);
            steady.removeIf(puri -> puri.startsWith("music:noise:"));
            assertThat(steady).hasSize(STEADY);
        }
    }
}
