package dev.puri.search.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.FakeTopics;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.Item;
import dev.puri.search.index.SearchIndex;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.index.TestQuery;
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
    private final ClusterClient cluster = new ClusterClient(NodeSettings.settings(node, "raw"));

    @AfterEach
    void close() {
        cluster.close();
    }

    private OpenSearchStore home(String alias) {
        return new OpenSearchStore(NodeSettings.settings(node, alias), new CursorSeal(new byte[32]));
    }

    private List<String> indices(String pattern) throws Exception {
        List<String> names = new ArrayList<>();
        cluster.read("GET", "/" + pattern + "/_alias", null).body().fieldNames().forEachRemaining(names::add);
        return names;
    }

    @Test
    void whatIsLeftOverIsDroppedAndWhatIsOthersIsNot() throws Exception {
        try (OpenSearchStore other = home("left-over")) {
            other.serving();
            try (OpenSearchStore home = home("left")) {
                home.serving();
                home.build();
                home.promote();
                assertThat(indices("left-g*")).hasSize(2);
            }
            try (OpenSearchStore home = home("left")) {
                home.serving();
                home.build();
                assertThat(indices("left-g*")).hasSize(2);
            }
            try (OpenSearchStore home = home("left")) {
                home.serving();
                assertThat(home.building()).isNotNull();
                assertThat(indices("left-over-g*")).hasSize(1);
            }
        }
    }

    @Test
    void whatServesIsNotDroppedByWhoeverOpenedItBefore() throws Exception {
        SearchIndex before;
        try (OpenSearchStore home = home("twice")) {
            before = home.serving();
        }
        try (OpenSearchStore home = home("twice")) {
            SearchIndex index = home.serving();
            assertThatThrownBy(() -> home.drop(before)).isInstanceOf(IllegalArgumentException.class);
            assertThat(indices("twice-g*")).hasSize(1);
            assertThat(index.committed()).isNotNull();
        }
    }

    @Test
    void anIndexOfAnotherVersionMakesRoomForANewOne() throws Exception {
        String old = "versions-g" + "0".repeat(32);
        cluster.write("PUT", "/" + old, ClusterClient.JSON.readTree("{\"aliases\":{\"versions\":{}}}"));
        try (OpenSearchStore home = home("versions")) {
            SearchIndex index = home.serving();
            assertThat(TestQuery.list(SearchQuery.Order.NEWEST).of(index).hits()).isEmpty();
            index.commit(new FakeTopics().write(Item.of("music:tracks:1")).reached());
            assertThat(indices("versions-g*")).hasSize(1).doesNotContain(old);
        }
    }

    @Test
    void aLateWriteDoesNotBringADroppedIndexBack() throws Exception {
        try (OpenSearchStore home = home("late")) {
            SearchIndex index = home.serving();
            String name = indices("late-g*").getFirst();
            cluster.write("DELETE", "/" + name, null);
            FakeTopics log = new FakeTopics().write(Item.of("music:tracks:1", "title", "late"));
            assertThatThrownBy(() -> index.apply(log.since(0))).isInstanceOf(IndexUnavailableException.class);
            assertThatThrownBy(() -> index.commit(log.reached())).isInstanceOf(IndexUnavailableException.class);
            assertThatThrownBy(() -> index.committed()).isInstanceOf(IndexUnavailableException.class);
            assertThat(indices("late-g*")).isEmpty();
        }
    }

    @Test
    void theMappingTakesNoFieldsThatNobodyMeant() throws Exception {
        try (OpenSearchStore home = home("strict")) {
            home.serving();
            String name = indices("strict-g*").getFirst();
            JsonNode stray = ClusterClient.JSON.readTree("{\"stray\":1}");
            assertThatThrownBy(() -> cluster.write("POST", "/" + name + "/_doc", stray))
                    .hasMessageContaining("strict");
        }
    }
}
