package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.search.index.SearchQuery.Order;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The life cycle of indices in an {@link IndexStore}. */
public abstract class StoreContract extends SearchIndexContract {
    @Test
    void startsWithoutUnfinishedIndex() throws Exception {
        assertThat(store.openUnfinished()).isNull();
    }

    @Test
    void buildsASeparateIndexAndPromotesItAtomically() throws Exception {
        apply(Item.of("music:tracks:1", "title", "old"), Item.of("music:ghosts:2", "title", "old"));
        index.commit(topics.checkpoint());

        SearchIndex built = store.createUnfinished();
        assertThat(built.committedCheckpoint()).isEqualTo(IndexCheckpoint.NONE);
        List<IndexChange> newChanges = new FakeTopics()
                .write(Item.of("music:tracks:1", "title", "new"))
                .since(0);
        built.apply(newChanges);
        built.refresh();
        assertThat(SampleQuery.text("old").purisOf(index)).hasSize(2);
        assertThat(SampleQuery.text("new").purisOf(index)).isEmpty();

        IndexCheckpoint checkpoint = FakeTopics.checkpointOf(newChanges);
        built.commit(checkpoint);
        assertThat(store.isServingUnchanged()).isTrue();
        store.promote();
        assertThat(store.isServingUnchanged()).isTrue();
        assertThat(SampleQuery.text("new").purisOf(built)).containsExactly("music:tracks:1");
        assertThat(SampleQuery.text("old").purisOf(index)).as("open readers").hasSize(2);
        store.drop(index);

        reopen();
        assertThat(store.openUnfinished()).isNull();
        assertThat(index.committedCheckpoint()).isEqualTo(checkpoint);
        assertThat(SampleQuery.list(Order.OLDEST).purisOf(index)).containsExactly("music:tracks:1");
        assertThat(SampleQuery.text("old").purisOf(index)).isEmpty();
    }

    @Test
    void forgetsAReplacedIndexThatWasNotDropped() throws Exception {
        apply(Item.of("music:tracks:1", "title", "old"));
        index.commit(topics.checkpoint());
        store.createUnfinished().commit(IndexCheckpoint.NONE);
        store.promote();
        reopen();
        assertThat(SampleQuery.list(Order.OLDEST).purisOf(index)).isEmpty();
        assertThat(store.openUnfinished()).isNull();
        store.createUnfinished();
    }

    @Test
    void continuesAnUnfinishedIndex() throws Exception {
        apply(Item.of("music:tracks:1", "title", "old"));
        index.commit(topics.checkpoint());
        SearchIndex built = store.createUnfinished();
        List<IndexChange> unfinished = new FakeTopics()
                .write(Item.of("music:tracks:1", "title", "new"))
                .since(0);
        built.apply(unfinished);
        built.commit(FakeTopics.checkpointOf(unfinished));

        reopen();
        SearchIndex again = store.openUnfinished();
        assertThat(again).isNotNull();
        assertThat(again.committedCheckpoint()).isEqualTo(FakeTopics.checkpointOf(unfinished));
        assertThat(SampleQuery.text("old").purisOf(index)).containsExactly("music:tracks:1");
        assertThat(SampleQuery.text("new").purisOf(again)).containsExactly("music:tracks:1");
        assertThatThrownBy(store::createUnfinished).isInstanceOf(IllegalStateException.class);
        store.promote();
        reopen();
        assertThat(SampleQuery.text("new").purisOf(index)).containsExactly("music:tracks:1");
    }

    @Test
    void dropsAnUnfinishedIndex() throws Exception {
        apply(Item.of("music:tracks:1", "title", "old"));
        index.commit(topics.checkpoint());
        store.drop(store.createUnfinished());
        assertThat(SampleQuery.text("old").purisOf(index)).hasSize(1);
        store.drop(store.createUnfinished());
        reopen();
        assertThat(store.openUnfinished()).isNull();
        assertThat(SampleQuery.text("old").purisOf(index)).hasSize(1);
    }

    @Test
    void opensEachIndexOnce() {
        assertThatThrownBy(store::openServing).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(store::promote).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void reopensAClosedIndex() throws Exception {
        apply(Item.of("music:tracks:1", "title", "kept"));
        index.commit(topics.checkpoint());
        index.close();
        assertThatThrownBy(() -> SampleQuery.text("kept").run(index)).isInstanceOf(IndexUnavailableException.class);
        assertThatThrownBy(() -> index.apply(topics.since(0))).isInstanceOf(IndexUnavailableException.class);
        index = store.openServing();
        assertThat(index.committedCheckpoint()).isEqualTo(topics.checkpoint());
        assertThat(SampleQuery.text("kept").purisOf(index)).hasSize(1);
    }

    @Test
    void failsReadsOfADroppedIndex() throws Exception {
        SearchIndex built = store.createUnfinished();
        store.promote();
        store.drop(index);
        assertThatThrownBy(() -> SampleQuery.list(Order.OLDEST).run(index))
                .isInstanceOf(IndexUnavailableException.class);
        assertThat(SampleQuery.list(Order.OLDEST).run(built).hits()).isEmpty();
    }
}
