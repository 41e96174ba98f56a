package dev.puri.search.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.FakeTopics;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.Item;
import dev.puri.search.index.SampleQuery;
import dev.puri.search.index.SearchIndex;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pages of a prefix search while many new words with this prefix are written. */
final class LuceneCursorTest {
    private static final int STEADY = 40;

    @TempDir
    private Path folder;

    private final FakeTopics topics = new FakeTopics();
    private int written;

    private void write(SearchIndex index, String puri, int count) throws IndexUnavailableException {
        int first = topics.size();
        for (int i = 0; i < count; i++) {
            String word = "word" + Integer.toString(written++, 36);
            topics.write(Item.of(puri + i, "title", word + " more".repeat(written % 7)));
        }
        index.apply(topics.since(first));
        index.refresh();
    }

    @Test
    void skipsNoHitWhenWordsAreWrittenBetweenPages() throws Exception {
        try (LuceneStore store = new LuceneStore(folder, new CursorSeal(new byte[32]))) {
            SearchIndex index = store.openServing();
            write(index, "music:tracks:", STEADY);
            int[] page = {0};
            List<String> found = SampleQuery.text("wo").limit(10).allPagesOf(index, () -> {
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
