package dev.puri.search.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.search.index.EntryKind;
import dev.puri.search.index.FakeTopics;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.Item;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Responses that a real cluster gives rarely. */
final class OpenSearchIndexTest {
    private static final String PART = "{\"pit_id\":\"p\",\"_shards\":{\"total\":2,\"successful\":1,\"failed\":1}}";

    @Test
    void aPurgeOfSomeShardsFails() throws Exception {
        try (StubCluster stub = new StubCluster().on("_forcemerge", PART)) {
            assertThatThrownBy(() -> stub.index().purge())
                    .isInstanceOf(IndexUnavailableException.class)
                    .hasMessageContaining("some shards");
        }
    }

    @Test
    void aScanOfSomeShardsFails() throws Exception {
        try (StubCluster stub = new StubCluster().on("point_in_time", PART)) {
            assertThatThrownBy(() -> stub.index().forEach(EntryKind.DOCUMENT, (puri, entry) -> {}))
                    .isInstanceOf(IndexUnavailableException.class)
                    .hasMessageContaining("some shards");
        }
    }

    @Test
    void retriesOnlyRejectedChangesOfABatch() throws Exception {
        String first = """
                {"errors":true,"items":[
                 {"index":{"status":201}},
                 {"index":{"status":429,"error":{"type":"rejected_execution_exception"}}},
                 {"index":{"status":409,"error":{"type":"version_conflict_engine_exception"}}},
                 {"delete":{"status":404}}]}""";
        String then = """
                {"errors":false,"items":[{"index":{"status":201}}]}""";
        FakeTopics topics = new FakeTopics()
                .writeRow(Item.of("a:b:1"))
                .writeRow(Item.of("a:b:2"))
                .writeRow(Item.of("a:b:3"));
        List<IndexChange> changes = topics.erase("a:b:4").since(0).subList(0, 4);
        try (StubCluster stub = new StubCluster().on("_bulk", first, then)) {
            stub.index().apply(changes);

            assertThat(stub.bodies()).hasSize(2);
            assertThat(stub.bodies().getFirst()).contains("i:a:b:1", "i:a:b:2", "i:a:b:3", "i:a:b:4");
            assertThat(stub.bodies().getLast()).contains("i:a:b:2").doesNotContain("i:a:b:1", "i:a:b:3", "i:a:b:4");
        }
    }

    @Test
    void aRefusedChangeFailsTheBatch() throws Exception {
        String answer = """
                {"errors":true,"items":[
                 {"index":{"status":403,"error":{"type":"cluster_block_exception"}}}]}""";
        try (StubCluster stub = new StubCluster().on("_bulk", answer)) {
            List<IndexChange> changes =
                    new FakeTopics().writeRow(Item.of("a:b:1")).since(0);
            assertThatThrownBy(() -> stub.index().apply(changes))
                    .isInstanceOf(IndexUnavailableException.class)
                    .hasMessageContaining("i:a:b:1")
                    .hasMessageContaining("403");
        }
    }
}
