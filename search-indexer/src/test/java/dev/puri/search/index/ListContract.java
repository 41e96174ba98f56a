package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.log.Row;
import dev.puri.search.index.SearchQuery.Order;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Lists of identities. */
public abstract class ListContract extends SearchIndexContract {
    @Test
    void ordersByUuidAcrossShards() throws Exception {
        apply(
                Item.of("music:tracks:a").createdAt(300).on("br-1"),
                Item.of("forum:posts:b").createdAt(100).on("br-2"),
                Item.of("music:users:c").createdAt(200).on("br-1"),
                Item.of("music:tracks:d").createdAt(400).on("br-3"));
        assertThat(SampleQuery.list(Order.OLDEST).purisOf(index))
                .containsExactly("forum:posts:b", "music:users:c", "music:tracks:a", "music:tracks:d");
        assertThat(SampleQuery.list(Order.NEWEST).purisOf(index))
                .containsExactly("music:tracks:d", "music:tracks:a", "music:users:c", "forum:posts:b");
    }

    @Test
    void comparesUuidsAsUnsigned128BitNumbers() throws Exception {
        apply(
                Item.of("music:tracks:a").withUuid(UUID.fromString("ffffffff-0000-4000-8000-000000000001")),
                Item.of("music:tracks:b").withUuid(UUID.fromString("7fffffff-0000-4000-8000-000000000001")),
                Item.of("music:tracks:c").withUuid(UUID.fromString("7fffffff-0000-4000-bfff-000000000001")),
                Item.of("music:tracks:d").withUuid(UUID.fromString("00000000-0000-4000-8000-000000000001")));
        assertThat(SampleQuery.list(Order.OLDEST).purisOf(index))
                .containsExactly("music:tracks:d", "music:tracks:b", "music:tracks:c", "music:tracks:a");
        assertThat(SampleQuery.list(Order.NEWEST).limit(1).allPagesOf(index, () -> {}))
                .containsExactly("music:tracks:a", "music:tracks:c", "music:tracks:b", "music:tracks:d");
    }

    @Test
    void ordersEqualUuids() throws Exception {
        for (int i = 0; i < 20; i++) {
            topics.write(Item.of("music:tracks:" + i).withUuid(Item.uuid(7, 7)));
        }
        apply();
        assertThat(SampleQuery.list(Order.OLDEST).limit(3).allPagesOf(index, () -> {}))
                .hasSize(20)
                .isEqualTo(SampleQuery.list(Order.OLDEST).purisOf(index));
    }

    @Test
    void returnsAttributesOfDocuments() throws Exception {
        topics.write(Item.of("music:tracks:1", "title", "One").createdAt(1).withHandle("trk_123456789abcdef"));
        topics.writeRow(Item.of("music:tracks:2").createdAt(2).ownedBy("shop").on("br-7"));
        apply(Item.of("music:tracks:3").createdAt(3).merged("music:tracks:1"));

        assertThat(SampleQuery.list(Order.OLDEST).statuses().run(index).hits())
                .containsExactly(
                        hit(Item.of("music:tracks:1", "title", "One").withHandle("trk_123456789abcdef")),
                        hit(Item.of("music:tracks:2").ownedBy("shop").on("br-7")),
                        hit(Item.of("music:tracks:3").merged("music:tracks:1")));
    }

    private SearchResult.Hit hit(Item item) {
        return new SearchResult.Hit(
                item.puri(),
                item.owner(),
                item.shard(),
                item.handle(),
                item.status(),
                item.mergedInto(),
                null,
                item.attributes(),
                Map.of());
    }

    @Test
    void filters() throws Exception {
        apply(
                Item.of("music:tracks:1").createdAt(1).on("br-1"),
                Item.of("music:tracks:2").createdAt(2).on("br-2").ownedBy("shop"),
                Item.of("music:users:3").createdAt(3).on("br-2"),
                Item.of("forum:tracks:4").createdAt(4).on("br-3"),
                Item.of("music:tracks:5").createdAt(5).merged("music:tracks:1"),
                Item.of("music:tracks:6").createdAt(6).deleted(),
                Item.of("music-x:tracks:7").createdAt(7));
        SampleQuery all = SampleQuery.list(Order.OLDEST);
        assertThat(all.collections("music:tracks").purisOf(index)).containsExactly("music:tracks:1", "music:tracks:2");
        assertThat(all.collections("music:tracks", "forum:tracks")
                        .shards("br-1", "br-3")
                        .purisOf(index))
                .containsExactly("music:tracks:1", "forum:tracks:4");
        assertThat(all.namespaces("music").purisOf(index))
                .containsExactly("music:tracks:1", "music:tracks:2", "music:users:3");
        assertThat(all.owners("shop").purisOf(index)).containsExactly("music:tracks:2");
        assertThat(all.statuses(Row.Status.MERGED, Row.Status.DELETED).purisOf(index))
                .containsExactly("music:tracks:5", "music:tracks:6");
        assertThat(all.statuses().purisOf(index)).hasSize(7);
        assertThat(all.collections("music:nothing").run(index))
                .isEqualTo(new SearchResult(List.of(), 0, true, Map.of(), Map.of(), null));
    }

    @Test
    void countsByCollectionAndShard() throws Exception {
        apply(
                Item.of("music:tracks:1").on("br-1"),
                Item.of("music:tracks:2").on("br-2"),
                Item.of("music:tracks:3").on("br-2"),
                Item.of("forum:posts:4").on("br-2"),
                Item.of("forum:posts:5").on("br-3").deleted());
        SearchResult result = SampleQuery.list(Order.NEWEST).limit(1).run(index);
        assertThat(result.total()).isEqualTo(4);
        assertThat(result.totalIsExact()).isTrue();
        assertThat(result.byCollection()).containsExactly(Map.entry("music:tracks", 3L), Map.entry("forum:posts", 1L));
        assertThat(result.byShard()).containsExactly(Map.entry("br-2", 3L), Map.entry("br-1", 1L));
        assertThat(SampleQuery.list(Order.NEWEST).plain().run(index).byShard()).isEmpty();
    }
}
