package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Reason;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Purges of erased entries. */
final class SearchPurgeIT extends SearchServerFixture {
    @Test
    void purgesErasedEntriesInTime() {
        topics.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 1);
        start(Map.of("search.forget.after", "2s"));
        awaitReady();
        assertThat(store.serving().purges()).isZero();

        topics.put(TRACK, null, null, 2);

        await().atMost(Duration.ofSeconds(5)).until(() -> store.serving().purges() == 1);
    }

    @Test
    void aLongPurgeBlocksNothingAndKeepsItsIndexOpen() throws Exception {
        topics.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 1);
        start(Map.of("search.forget.after", "1s"));
        awaitReady();
        MemoryIndex before = store.serving();
        CompletableFuture<Boolean> purging = new CompletableFuture<>();
        before.setPurgeResult(purging);
        topics.put(TRACK, null, null, 2);
        await().atMost(Duration.ofSeconds(10)).until(() -> before.startedPurges() == 1);

        assertThat(ask("POST")).isEqualTo(202);
        await().atMost(Duration.ofSeconds(20))
                .until(() -> reindexing().path("state").asText().equals("done"));
        topics.fill("soundcloud:tracks", 5, 6);
        await().atMost(Duration.ofSeconds(10)).until(() -> total("q=n5") == 1);
        assertThat(store.serving()).isNotSameAs(before);
        assertThat(before.isClosed()).isFalse();
        purging.complete(true);
        await().atMost(Duration.ofSeconds(10)).until(before::isClosed);
    }

    @Test
    void retriesAFailedPurge() {
        topics.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 1);
        start(Map.of("search.forget.after", "1s"));
        awaitReady();
        store.serving().setPurgeResult(CompletableFuture.completedFuture(false));
        topics.put(TRACK, null, null, 2);
        await().atMost(Duration.ofSeconds(10)).until(() -> store.serving().startedPurges() == 1);
        store.serving().setPurgeResult(CompletableFuture.completedFuture(true));

        await().atMost(Duration.ofSeconds(30)).until(() -> store.serving().purges() == 1);
    }

    @Test
    void doesNotPurgeUnknownNames() {
        topics.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 1);
        start(Map.of("search.forget.after", "1s"));
        awaitReady();
        Outcome refused = Outcome.refused(Reason.STALE_EPOCH);
        topics.refuse("soundcloud:tracks:404", null, refused, 2);
        topics.put("puri:marker:0", null, null, 3);
        await().during(Duration.ofSeconds(2))
                .atMost(Duration.ofSeconds(10))
                .until(() -> store.serving().startedPurges() == 0);

        // Compaction leaves such a tombstone of an erased name.
        topics.refuse(TRACK, null, refused, 4);
        await().atMost(Duration.ofSeconds(10)).until(() -> store.serving().purges() == 1);
    }
}
