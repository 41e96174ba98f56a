package dev.puri.search.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.EntryDigests;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.FakeTopics;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.Item;
import dev.puri.search.index.SampleQuery;
import dev.puri.search.index.SearchIndex;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.index.StoredHash;
import dev.puri.testkit.OpenSearchFixture;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
final class OpenSearchStoreIT {
    private final OpenSearchFixture node = OpenSearchFixture.shared();
    private final ClusterClient cluster = new ClusterClient(NodeSettings.of(node, "raw"));

    @AfterEach
    void close() {
        cluster.close();
    }

    private OpenSearchStore open(String alias) {
        return new OpenSearchStore(NodeSettings.of(node, alias), new CursorSeal(new byte[32]));
    }

    /** Opens a store until the proxy holds its creation of an index, so that the store gets a time-out. */
    private static void failToOpen(SlowCreation slow, String alias) {
        while (!slow.isHeld()) {
            try (OpenSearchStore store =
                    new OpenSearchStore(NodeSettings.of(slow.url(), alias, "2s"), new CursorSeal(new byte[32]))) {
                assertThatThrownBy(store::openServing).isInstanceOf(IndexUnavailableException.class);
            }
        }
    }

    private List<String> indices(String pattern) throws Exception {
        List<String> names = new ArrayList<>();
        cluster.sendWithReadTimeout("GET", "/" + pattern + "/_alias", null)
                .body()
                .fieldNames()
                .forEachRemaining(names::add);
        return names;
    }

    @Test
    void deletesUnusedIndicesOfItsOwnAliasOnly() throws Exception {
        try (OpenSearchStore other = open("left-over")) {
            other.openServing();
            try (OpenSearchStore store = open("left")) {
                store.openServing();
                store.createUnfinished();
                store.promote();
                assertThat(indices("left-g*")).hasSize(2);
            }
            try (OpenSearchStore store = open("left")) {
                store.openServing();
                store.createUnfinished();
                assertThat(indices("left-g*")).hasSize(2);
            }
            try (OpenSearchStore store = open("left")) {
                store.openServing();
                assertThat(store.openUnfinished()).isNotNull();
                assertThat(indices("left-over-g*")).hasSize(1);
            }
        }
    }

    @Test
    void doesNotDropTheServingIndexThroughAnEarlierReference() throws Exception {
        SearchIndex before;
        try (OpenSearchStore store = open("twice")) {
            before = store.openServing();
        }
        try (OpenSearchStore store = open("twice")) {
            SearchIndex index = store.openServing();
            assertThatThrownBy(() -> store.drop(before)).isInstanceOf(IllegalArgumentException.class);
            assertThat(indices("twice-g*")).hasSize(1);
            assertThat(index.committedCheckpoint()).isNotNull();
        }
    }

    @Test
    void replacesAnIndexOfAnotherFormat() throws Exception {
        String old = "versions-g" + "0".repeat(32);
        cluster.sendWithWriteTimeout("PUT", "/" + old, ClusterClient.JSON.readTree("{\"aliases\":{\"versions\":{}}}"));
        try (OpenSearchStore store = open("versions")) {
            SearchIndex index = store.openServing();
            assertThat(SampleQuery.list(SearchQuery.Order.NEWEST).run(index).hits())
                    .isEmpty();
            index.commit(new FakeTopics().write(Item.of("music:tracks:1")).checkpoint());
            assertThat(indices("versions-g*")).hasSize(1).doesNotContain(old);
        }
    }

    @Test
    void anIndexThatTheClusterCreatesLateDoesNotServe() throws Exception {
        try (SlowCreation slow = new SlowCreation(node.url())) {
            failToOpen(slow, "created-late");
            try (OpenSearchStore store = open("created-late")) {
                store.openServing();
            }
            slow.release();
        }
        assertThat(indices("created-late-g*")).hasSize(2);
        try (OpenSearchStore store = open("created-late")) {
            store.openServing();
            assertThat(indices("created-late-g*")).hasSize(1);
        }
    }

    @Test
    void theNextAttemptUsesAnIndexThatWasCreatedLate() throws Exception {
        try (SlowCreation slow = new SlowCreation(node.url())) {
            failToOpen(slow, "used-late");
            slow.release();
        }
        List<String> createdLate = indices("used-late-g*");
        assertThat(createdLate).hasSize(1);
        try (OpenSearchStore store = open("used-late")) {
            store.openServing();
            assertThat(indices("used-late-g*")).isEqualTo(createdLate);
        }
    }

    @Test
    void twoUnfinishedIndicesAreDeleted() throws Exception {
        for (String digit : List.of("1", "2")) {
            cluster.sendWithWriteTimeout(
                    "PUT",
                    "/two-g" + digit.repeat(32),
                    ClusterClient.JSON.readTree("{\"aliases\":{\"two-building\":{}}}"));
        }
        try (OpenSearchStore store = open("two")) {
            store.openServing();
            assertThat(store.openUnfinished()).isNull();
            assertThat(indices("two-g*")).hasSize(1);
            store.createUnfinished();
        }
    }

    @Test
    void aLateWriteDoesNotRecreateADroppedIndex() throws Exception {
        try (OpenSearchStore store = open("late")) {
            SearchIndex index = store.openServing();
            String name = indices("late-g*").getFirst();
            cluster.sendWithWriteTimeout("DELETE", "/" + name, null);
            FakeTopics topics = new FakeTopics().write(Item.of("music:tracks:1", "title", "late"));
            assertThatThrownBy(() -> index.apply(topics.since(0))).isInstanceOf(IndexUnavailableException.class);
            assertThatThrownBy(() -> index.commit(topics.checkpoint())).isInstanceOf(IndexUnavailableException.class);
            assertThatThrownBy(() -> index.committedCheckpoint()).isInstanceOf(IndexUnavailableException.class);
            assertThat(indices("late-g*")).isEmpty();
        }
    }

    @Test
    void theMappingRejectsUnknownFields() throws Exception {
        try (OpenSearchStore store = open("strict")) {
            store.openServing();
            String name = indices("strict-g*").getFirst();
            JsonNode stray = ClusterClient.JSON.readTree("{\"stray\":1}");
            assertThatThrownBy(() -> cluster.sendWithWriteTimeout("POST", "/" + name + "/_doc", stray))
                    .hasMessageContaining("strict");
        }
    }

    @Test
    void findsAnAlteredEntryAndNamesIt() throws Exception {
        try (OpenSearchStore store = open("altered")) {
            SearchIndex index = store.openServing();
            FakeTopics topics = new FakeTopics()
                    .write(Item.of("music:tracks:1", "title", "One"), Item.of("music:tracks:2", "title", "Two"));
            index.apply(topics.since(0));
            index.refresh();
            EntryDigests digests = index.digests();
            String name = indices("altered-g*").getFirst();
            cluster.sendWithWriteTimeout(
                    "POST",
                    "/" + name + "/_update/i:music:tracks:2?refresh=true",
                    ClusterClient.JSON.readTree("{\"doc\":{\"shard\":\"br-9\"}}"));

            List<StoredHash> altered = new ArrayList<>();
            for (int partition = 0; partition < FakeTopics.PARTITIONS; partition++) {
                index.forEachHash(EntryKind.IDENTITY, partition, hash -> !hash.isAltered() || altered.add(hash));
            }
            assertThat(altered).hasSize(1);
            assertThat(altered.getFirst().puri()).isEqualTo(Puri.parse("music:tracks:2"));
            assertThat(index.digests()).isEqualTo(digests);
        }
    }
}
