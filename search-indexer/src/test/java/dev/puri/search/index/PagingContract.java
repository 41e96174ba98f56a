package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.search.index.SearchQuery.Order;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Pages and cursors of lists and text searches. */
public abstract class PagingContract extends SearchIndexContract {
    private final Random random = new Random(7);
    private int written;

    @Test
    void pagesOfAListHaveEachHitOnceDuringWrites() throws Exception {
        List<Item> steady = new ArrayList<>();
        for (int i = 0; i < 237; i++) {
            steady.add(
                    Item.of("music:tracks:" + i).createdAt(random.nextInt(1000)).on("br-" + i % 5));
        }
        apply(steady.toArray(Item[]::new));
        Comparator<Item> byUuid = Comparator.comparing(item -> item.uuid().toString());
        for (Order order : List.of(Order.OLDEST, Order.NEWEST)) {
            List<String> found =
                    new ArrayList<>(SampleQuery.list(order).limit(10).allPagesOf(index, this::disturb));
            assertThat(found).doesNotHaveDuplicates();
            found.removeIf(puri -> puri.startsWith("music:noise"));
            assertThat(found)
                    .isEqualTo(steady.stream()
                            .sorted((order == Order.OLDEST ? byUuid : byUuid.reversed()).thenComparing(Item::puri))
                            .map(item -> item.puri().toString())
                            .toList());
        }
    }

    @Test
    void pagesOfATextHaveEachHitOnceDuringWrites() throws Exception {
        List<String> steady = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            // Many equal scores and many different ones.
            Item item = Item.of("music:tracks:" + i, "title", "moon" + " more".repeat(random.nextInt(4) * i % 23));
            steady.add(item.puri().toString());
            topics.write(item);
        }
        apply();
        for (String text : List.of("moon ", "moo", "mooon ", "\"moon\"")) {
            List<String> found = SampleQuery.text(text).limit(7).allPagesOf(index, this::disturb);
            assertThat(found).as(text).doesNotHaveDuplicates();
            assertThat(found).as(text).containsAll(steady);
        }
    }

    @Test
    void pagesOfATextTogetherEqualOneLargePage() throws Exception {
        for (int i = 0; i < 60; i++) {
            topics.write(Item.of("music:tracks:" + i, "title", "moon" + " more".repeat(i % 5)));
        }
        apply();
        SearchResult whole = SampleQuery.text("moon").limit(100).run(index);
        assertThat(whole.next()).isNull();
        assertThat(whole.hits())
                .isSortedAccordingTo(
                        Comparator.comparing(SearchResult.Hit::score).reversed());
        assertThat(SampleQuery.text("moon").limit(7).allPagesOf(index, () -> {}))
                .isEqualTo(SampleQuery.puris(whole));
        assertThat(SampleQuery.text("moon").limit(60).run(index).next()).isNull();
    }

    @Test
    void pagesWithLongTextsEndEarlyAndContinue() throws Exception {
        String text = "moon " + "more ".repeat(6_000);
        List<String> all = new ArrayList<>();
        for (int i = 100; i < 170; i++) {
            Item item = Item.of("music:tracks:" + i, "text", text).createdAt(i);
            all.add(item.puri().toString());
            topics.write(item);
        }
        apply();
        int most = PageBudget.MAX_BYTES / text.length();
        for (SampleQuery query : List.of(
                SampleQuery.text("moon").limit(1000),
                SampleQuery.list(Order.OLDEST).limit(1000))) {
            SearchResult first = query.run(index);
            assertThat(first.hits()).hasSizeBetween(most / 2, most);
            assertThat(first.total()).isEqualTo(all.size());
            assertThat(query.allPagesOf(index, () -> {})).containsExactlyInAnyOrderElementsOf(all);
        }
        assertThat(SampleQuery.list(Order.OLDEST).limit(1000).allPagesOf(index, this::disturb))
                .containsAll(all)
                .doesNotHaveDuplicates();
    }

    @Test
    void everyPageHasTheTotal() throws Exception {
        for (int i = 0; i < 30; i++) {
            topics.write(Item.of("music:tracks:" + i, "title", "moon"));
        }
        apply();
        for (SampleQuery first : List.of(SampleQuery.text("moon"), SampleQuery.list(Order.NEWEST))) {
            SampleQuery second = first.limit(5).after(first.limit(5).run(index).next());
            assertThat(second.run(index).total()).isEqualTo(30);
            assertThat(second.run(index).byShard()).isEqualTo(Map.of("br-1", 30L));
        }
    }

    @Test
    void thePageSizeMayChangeBetweenPages() throws Exception {
        for (int i = 0; i < 9; i++) {
            topics.write(Item.of("music:tracks:" + i).createdAt(i));
        }
        apply();
        Cursor afterTwo = SampleQuery.list(Order.OLDEST).limit(2).run(index).next();
        assertThat(SampleQuery.list(Order.OLDEST)
                        .limit(3)
                        .plain()
                        .after(afterTwo)
                        .purisOf(index))
                .containsExactly("music:tracks:2", "music:tracks:3", "music:tracks:4");
    }

    @Test
    void rejectsForeignCursors() throws Exception {
        for (int i = 0; i < 9; i++) {
            topics.write(Item.of("music:tracks:" + i, "title", "moon river"));
        }
        apply();
        Cursor list = SampleQuery.list(Order.OLDEST).limit(2).run(index).next();
        Cursor text = SampleQuery.text("moon").limit(2).run(index).next();
        char last = list.token().charAt(list.token().length() / 2);
        Map<String, SampleQuery> wrong = Map.of(
                "another order", SampleQuery.list(Order.NEWEST).after(list),
                "another filter", SampleQuery.list(Order.OLDEST).shards("br-1").after(list),
                "a list's for a text", SampleQuery.text("moon").after(list),
                "a text's for a list", SampleQuery.list(Order.OLDEST).after(text),
                "another text", SampleQuery.text("river").after(text),
                "invented", SampleQuery.list(Order.OLDEST).after(new Cursor("eyJhIjoxfQ")),
                "one character", SampleQuery.list(Order.OLDEST).after(new Cursor("_")),
                "the longest", SampleQuery.text("moon").after(new Cursor("A".repeat(2048))),
                "cut",
                        SampleQuery.list(Order.OLDEST)
                                .after(new Cursor(list.token().substring(3))),
                "changed",
                        SampleQuery.list(Order.OLDEST)
                                .after(new Cursor(list.token().replace(last, last == 'A' ? 'B' : 'A'))));
        wrong.forEach((what, query) ->
                assertThatThrownBy(() -> query.run(index)).as(what).isInstanceOf(Cursor.InvalidException.class));
    }

    /** Writes, replaces and deletes other entries, which also changes term statistics. */
    private void disturb() {
        try {
            for (int i = 0; i < 3; i++) {
                int id = written++;
                topics.write(Item.of("music:noise:" + id, "title", "moon " + "noise ".repeat(id % 9))
                        .createdAt(random.nextInt(1000)));
                topics.erase("music:noise:" + random.nextInt(id + 1));
            }
            apply();
        } catch (IndexUnavailableException e) {
            throw new AssertionError(e);
        }
    }
}
