package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.projection.ObservationTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An index that was replaced waits for its deletion. */
final class DeletionQueueTest {
    private final MemoryStore store = new MemoryStore();
    private final MemoryIndex replaced = store.serving();
    private final ServingIndex serving = new ServingIndex(replaced, new ObservationTime(0, Instant.EPOCH));
    private final DeletionQueue deletions = new DeletionQueue();

    @BeforeEach
    void replace() throws Exception {
        store.createUnfinished();
        store.promote();
    }

    private void deleteOldest() {
        deletions.deleteOldest(store, index -> false);
    }

    @Test
    void anIndexIsDeletedAfterItsLastReader() {
        assertThat(serving.acquire()).isTrue();
        deletions.add(serving);
        deleteOldest();
        assertThat(replaced.isClosed()).isFalse();
        assertThat(serving.acquire()).as("a new reader").isFalse();

        serving.close();
        deleteOldest();

        assertThat(replaced.isClosed()).isTrue();
    }

    @Test
    void anIndexThatIsPurgedIsNotDeleted() {
        deletions.add(serving);
        deletions.deleteOldest(store, index -> index == replaced);
        assertThat(replaced.isClosed()).isFalse();

        deleteOldest();
        assertThat(replaced.isClosed()).isTrue();
    }

    @Test
    void aFailedDeletionBacksOff() {
        store.setDropUnavailable(true);
        deletions.add(serving);
        deleteOldest();

        store.setDropUnavailable(false);
        deleteOldest();

        assertThat(replaced.isClosed()).as("the back-off takes 10 s").isFalse();
    }

    @Test
    void theWaitForReadersEndsAndLeavesTheirIndexToTheNextOpening() {
        assertThat(serving.acquire()).isTrue();
        deletions.add(serving);

        deletions.awaitReaders(Duration.ZERO);
        serving.close();
        deleteOldest();

        assertThat(replaced.isClosed()).isFalse();
    }
}
