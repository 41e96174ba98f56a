package dev.puri.search.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.FakeTopics;
import dev.puri.search.index.Item;
import dev.puri.search.index.SampleQuery;
import dev.puri.search.index.SearchIndex;
import dev.puri.search.index.SearchQuery.Order;
import dev.puri.search.index.SearchResult;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Lists that are too long to examine completely for one page. */
@Execution(ExecutionMode.CONCURRENT)
final class LuceneListIT {
    private static final int IDENTITIES = 14_000;

    @TempDir
    private Path folder;

    @Test
    void pagesOfALongListAreInOrder() throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        List<Item> items = new ArrayList<>();
        FakeTopics topics = new FakeTopics();
        try (LuceneStore store = new LuceneStore(folder, new CursorSeal(new byte[32]))) {
            SearchIndex index = store.openServing();
            for (int i = 0; i < IDENTITIES; i++) {
                // Almost in the order of creation, as with several clocks; and a few uuids of another time.
                Item item = Item.of("music:tracks:" + i)
                        .createdAt(i / 3 + random.nextInt(50))
                        .on("br-" + i % 40);
                item = random.nextInt(100) == 0 ? item.withUuid(Item.uuid(random.nextInt(1 << 30), i)) : item;
                items.add(item);
                topics.writeRow(item);
                if (i % 3000 == 0) {
                    index.apply(topics.after(index.committedCheckpoint()));
                    index.commit(topics.checkpoint());
                }
            }
            index.apply(topics.after(index.committedCheckpoint()));
            index.refresh();

            for (Order order : List.of(Order.NEWEST, Order.OLDEST)) {
                SampleQuery all = SampleQuery.list(order).limit(1500);
                assertPages(all, order, items, item -> true, index, seed);
                assertPages(all.plain(), order, items, item -> true, index, seed);
                assertPages(
                        all.shards("br-7"),
                        order,
                        items,
                        item -> item.shard().text().equals("br-7"),
                        index,
                        seed);
                SampleQuery most = all.shards(br(30)).limit(3000);
                assertPages(
                        most,
                        order,
                        items,
                        item -> List.of(br(30)).contains(item.shard().text()),
                        index,
                        seed);
            }
            SearchResult page = SampleQuery.list(Order.NEWEST).plain().run(index);
            assertThat(page.totalIsExact()).isFalse();
            assertThat(page.total()).isBetween(10_000L, (long) IDENTITIES);
        }
    }

    private static String[] br(int count) {
        String[] shards = new String[count];
        for (int i = 0; i < count; i++) {
            shards[i] = "br-" + i;
        }
        return shards;
    }

    private static void assertPages(
            SampleQuery query, Order order, List<Item> items, Predicate<Item> filter, SearchIndex index, long seed)
            throws Exception {
        Comparator<Item> byUuid = Comparator.comparing(item -> item.uuid().toString());
        assertThat(query.allPagesOf(index, () -> {}))
                .as("seed %d", seed)
                .isEqualTo(items.stream()
                        .filter(filter)
                        .sorted(order == Order.OLDEST ? byUuid : byUuid.reversed())
                        .map(item -> item.puri().toString())
                        .toList());
    }
}
