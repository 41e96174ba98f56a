package dev.puri.search.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.FakeTopics;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.Item;
import dev.puri.search.index.SampleQuery;
import dev.puri.search.index.SearchIndex;
import dev.puri.testkit.OpenSearchFixture;
import dev.puri.testkit.RestartableOpenSearch;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
final class OutageFaultIT {
    private static final int BATCH = 40;
    private static final int FIRST = 400;

    private final CursorSeal seal = new CursorSeal(new byte[32]);
    private final AtomicInteger applied = new AtomicInteger();

    /** One writer waits for the node. The other has a short timeout, fails and continues from its commit. */
    @Test
    void aKilledNodeLosesNothing() throws Exception {
        List<IndexChange> changes = changes(new FakeTopics());
        try (RestartableOpenSearch node = OpenSearchFixture.start();
                IndexStore patient = new OpenSearchStore(NodeSettings.of(node, "patient"), seal);
                IndexStore hasty = new OpenSearchStore(NodeSettings.of(node, "hasty", "10s"), seal)) {
            SearchIndex waits = patient.openServing();
            SearchIndex fails = hasty.openServing();
            CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> write(waits, changes));
            fails.apply(changes.subList(0, FIRST));
            fails.commit(FakeTopics.checkpointOf(changes.subList(0, FIRST / 2)));
            await().atMost(Duration.ofMinutes(1)).until(() -> applied.get() > 5 * BATCH);

            node.stop();
            assertThatThrownBy(() -> fails.apply(changes.subList(FIRST, changes.size())))
                    .isInstanceOf(IndexUnavailableException.class);
            assertThatThrownBy(() -> SampleQuery.text("moon").run(fails)).isInstanceOf(IndexUnavailableException.class);
            assertThat(writing).isNotDone();

            node.start();
            IndexCheckpoint checkpoint = fails.committedCheckpoint();
            assertThat(checkpoint).isEqualTo(FakeTopics.checkpointOf(changes.subList(0, FIRST / 2)));
            fails.apply(changes.stream()
                    .filter(change -> FakeTopics.isAfter(checkpoint, change))
                    .toList());
            writing.get(120, TimeUnit.SECONDS);
            assertHasAll(waits, changes);
            assertHasAll(fails, changes);
            assertThat(waits.committedCheckpoint()).isEqualTo(FakeTopics.checkpointOf(changes));
        }
    }

    private static List<IndexChange> changes(FakeTopics topics) {
        Random random = new Random(3);
        for (int i = 0; i < 1_000; i++) {
            String puri = "music:tracks:" + random.nextInt(150);
            if (random.nextInt(5) == 0) {
                topics.erase(puri);
            } else {
                topics.write(Item.of(puri, "title", "moon " + i));
            }
        }
        return topics.since(0);
    }

    private void write(SearchIndex index, List<IndexChange> changes) {
        try {
            for (int from = 0; from < changes.size(); from += BATCH) {
                int to = Math.min(from + BATCH, changes.size());
                index.apply(changes.subList(from, to));
                index.commit(FakeTopics.checkpointOf(changes.subList(0, to)));
                applied.set(to);
            }
        } catch (IndexUnavailableException e) {
            throw new AssertionError(e);
        }
    }

    private static void assertHasAll(SearchIndex index, List<IndexChange> changes) throws Exception {
        index.refresh();
        for (EntryKind kind : EntryKind.values()) {
            Map<Puri, Entry> entries = new HashMap<>();
            index.forEach(kind, entries::put);
            assertThat(entries).isEqualTo(FakeTopics.entries(kind, changes));
        }
    }
}
