package dev.puri.client.resolve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Every possible order of a request, its response and a change. */
class RowCacheTest {
    private static final Puri A = Puri.parse("m:t:a");
    private static final Puri B = Puri.parse("m:t:b");
    private static final Puri C = Puri.parse("m:t:c");
    private static final Handle HANDLE = new Handle("trk_4k7vx9tz2nqr8w3");
    private static final Handle OTHER_HANDLE = new Handle("trk_4k7vx9tz2nqr8w4");
    private static final Position TOKEN = new Position("puri.events.v1", 0, 7);
    private static final Placement PLACEMENT = new Placement(
            new Owner("catalog"), new Shard("br-1"), UUID.fromString("01970000-0000-7000-8000-000000000001"));

    private long now;
    private final RowCache cache = cache(Duration.ZERO, 100);

    private RowCache cache(Duration lag, int maxChanged) {
        RowCache made = new RowCache(100, lag, () -> now, maxChanged);
        made.setEnabled(true);
        return made;
    }

    private static Verdict.Found found(Puri puri, @Nullable Handle handle) {
        return new Verdict.Found(puri, handle, PLACEMENT, 1, Instant.EPOCH, Instant.EPOCH);
    }

    private static Verdict.Merged merged(Puri puri, Puri survivor) {
        return new Verdict.Merged(puri, null, survivor, PLACEMENT, 2, Instant.EPOCH, Instant.EPOCH, null);
    }

    private long tick() {
        return ++now;
    }

    private void keep(Puri puri, Verdict verdict) {
        long sentAt = tick();
        tick();
        cache.put(Ref.of(puri), verdict, sentAt);
    }

    @Test
    void anAnswerIsKeptUntilItsRowChanges() {
        keep(A, found(A, null));
        keep(B, found(B, null));
        assertThat(cache.get(Ref.of("M:T:A"))).isEqualTo(found(A, null));
        tick();
        cache.changed(A, true);
        assertThat(cache.get(Ref.of(A))).isNull();
        assertThat(cache.get(Ref.of(B))).isNotNull();
    }

    @Test
    void doesNotCacheAnAnswerWhoseRowChangesDuringTheRequest() {
        long sentAt = tick();
        tick();
        cache.changed(A, true);
        tick();
        cache.put(Ref.of(A), found(A, null), sentAt);
        assertThat(cache.get(Ref.of(A))).isNull();
        assertThat(cache.statistics(0, CacheStatistics.Feed.CURRENT, null).notKept())
                .isEqualTo(1);

        keep(A, found(A, null));
        assertThat(cache.get(Ref.of(A))).as("requested after the change").isNotNull();
    }

    @Test
    void doesNotCacheAnAnswerWhoseRowChangesWhenTheRequestIsSent() {
        cache.changed(A, true);
        cache.put(Ref.of(A), found(A, null), now);
        assertThat(cache.get(Ref.of(A))).isNull();
    }

    @Test
    void aStaleResolverDoesNotBringBackAnOldRow() {
        RowCache lagging = cache(Duration.ofNanos(100), 100);
        now = 1000;
        lagging.changed(A, true);
        now = 1100;
        lagging.put(Ref.of(A), found(A, null), now);
        assertThat(lagging.get(Ref.of(A))).isNull();
        now = 1101;
        lagging.put(Ref.of(A), found(A, null), now);
        assertThat(lagging.get(Ref.of(A))).isNotNull();
    }

    @Test
    void aForgottenChangeCountsAsAChangeOfEveryRow() {
        RowCache small = cache(Duration.ZERO, 2);
        long sentAt = tick();
        tick();
        small.changed(A, true);
        small.changed(B, true);
        small.put(Ref.of(C), found(C, null), sentAt);
        assertThat(small.get(Ref.of(C))).as("no change is discarded yet").isNotNull();
        small.changed(C, true);
        small.put(Ref.of(A), found(A, null), sentAt);
        assertThat(small.get(Ref.of(A))).isNull();
    }

    @Test
    void oldChangesAreForgottenAndAreOldForAllRows() {
        tick();
        cache.changed(A, true);
        now += Duration.ofHours(1).toNanos();
        cache.changed(B, true);
        keep(A, found(A, null));
        assertThat(cache.get(Ref.of(A))).isNotNull();
    }

    @Test
    void doesNotCacheAnswersToRequestsSentBeforeClear() {
        long sentAt = tick();
        tick();
        cache.clear();
        tick();
        cache.put(Ref.of(A), found(A, null), sentAt);
        assertThat(cache.get(Ref.of(A))).isNull();
        keep(A, found(A, null));
        assertThat(cache.get(Ref.of(A))).isNotNull();
        cache.clear();
        assertThat(cache.get(Ref.of(A))).isNull();
    }

    @Test
    void answersNothingWhileTheFeedIsNotCurrent() {
        keep(A, found(A, null));
        cache.setEnabled(false);
        assertThat(cache.get(Ref.of(A))).isNull();
        cache.setEnabled(true);
        assertThat(cache.get(Ref.of(A))).isNotNull();
    }

    @Test
    void theCacheAnswersATokenOnlyWithARowRequestedWithIt() {
        keep(A, found(A, null));
        assertThat(cache.get(Ref.of(A).at(TOKEN))).isNull();
        cache.put(Ref.of(A).at(TOKEN), found(A, null), tick());
        assertThat(cache.get(Ref.of(A).at(TOKEN))).isNotNull();
        assertThat(cache.get(Ref.of(A))).isNotNull();
        // That event may have been refused, which the row does not show.
        assertThat(cache.get(Ref.of(A).at(new Position("puri.events.v1", 0, 6))))
                .isNull();
        assertThat(cache.get(Ref.of(A).at(new Position("puri.events.v1", 0, 8))))
                .isNull();
    }

    @Test
    void aCachedHandleIsAnsweredUntilItsRowChanges() {
        cache.put(Ref.of(HANDLE), found(A, HANDLE), tick());
        assertThat(cache.get(Ref.of(HANDLE))).isEqualTo(found(A, HANDLE));
        assertThat(cache.get(Ref.of(A))).isEqualTo(found(A, HANDLE));
        tick();
        cache.changed(A, true);
        assertThat(cache.get(Ref.of(HANDLE))).isNull();
        // Created again with another handle: the former handle is unknown.
        keep(A, found(A, OTHER_HANDLE));
        assertThat(cache.get(Ref.of(HANDLE))).isNull();
        assertThat(cache.get(Ref.of(A))).isNotNull();
    }

    @Test
    void aCachedMergeIsRemovedWithItsSurvivorsRow() {
        keep(A, merged(A, B));
        keep(C, merged(C, B));
        assertThat(cache.get(Ref.of(A))).isNotNull();
        tick();
        cache.changed(B, true);
        assertThat(cache.get(Ref.of(A))).isNull();
        assertThat(cache.get(Ref.of(C))).isNull();
        keep(A, merged(A, B));
        assertThat(cache.get(Ref.of(A))).isNotNull();
    }

    @Test
    void doesNotCacheAnAnswerWhoseSurvivorChangesDuringTheRequest() {
        long sentAt = tick();
        tick();
        cache.changed(B, true);
        tick();
        cache.put(Ref.of(A), merged(A, B), sentAt);
        assertThat(cache.get(Ref.of(A))).isNull();
    }

    /** A chain of three: no answer names the row between. */
    @Test
    void aCachedMergeIsRemovedWhenARowInItsChainMayHaveChanged() {
        keep(A, merged(A, C));
        keep(B, found(B, null));
        tick();
        cache.changed(Puri.parse("m:t:between"), true);
        assertThat(cache.get(Ref.of(A))).as("rows between are not active").isNotNull();
        cache.changed(Puri.parse("m:t:between"), false);
        assertThat(cache.get(Ref.of(A))).isNull();
        assertThat(cache.get(Ref.of(B))).isNotNull();

        long sentAt = tick();
        tick();
        cache.changed(Puri.parse("m:t:between"), false);
        cache.put(Ref.of(A), merged(A, C), sentAt);
        assertThat(cache.get(Ref.of(A))).as("during the request").isNull();
    }

    @Test
    void endlessMergesAndUnknownNamesAreNotCached() {
        keep(A, new Verdict.Merged(A, null, null, null, 2, Instant.EPOCH, Instant.EPOCH, "a cycle"));
        keep(B, new Verdict.Unknown(Ref.of(B)));
        assertThat(cache.get(Ref.of(A))).isNull();
        assertThat(cache.get(Ref.of(B))).isNull();
    }

    @Test
    void anErasedNameIsForgotten() {
        RowCache lagging = cache(Duration.ofSeconds(10), 100);
        now = Duration.ofSeconds(20).toNanos();
        lagging.put(Ref.of(HANDLE), found(B, HANDLE), now);
        lagging.put(Ref.of(A), merged(A, B), now);
        lagging.put(Ref.of(C), found(C, null), now);
        assertThat(lagging.puris()).containsExactlyInAnyOrder(A, B, C);

        lagging.changed(B, false);

        assertThat(lagging.puris()).as("until the change is discarded").containsExactlyInAnyOrder(B, C);
        now += Duration.ofSeconds(70).toNanos();
        lagging.forgetOldChanges();
        assertThat(lagging.puris()).contains(B);
        now++;
        lagging.forgetOldChanges();
        assertThat(lagging.puris()).containsExactly(C);
    }

    @Test
    void aHandleLeavesTheCacheWithItsRow() {
        for (int i = 0; i < 1000; i++) {
            String last = "" + Handle.ALPHABET.charAt(i / 32) + Handle.ALPHABET.charAt(i % 32);
            Handle handle = new Handle("trk_4k7vx9tz2nqr8" + last);
            Puri puri = Puri.parse("m:t:" + i);
            cache.put(Ref.of(handle), found(puri, handle), tick());
        }
        assertThat(cache.puris()).allMatch(name -> cache.get(Ref.of(name)) != null);
        keep(A, found(A, null));
        cache.put(Ref.of(HANDLE), found(A, HANDLE), tick());
        cache.put(Ref.of(A), found(A, OTHER_HANDLE), tick());
        tick();
        cache.put(Ref.of(HANDLE), found(B, HANDLE), tick());
        assertThat(cache.get(Ref.of(HANDLE))).isEqualTo(found(B, HANDLE));
    }

    @Test
    void aDeletedRowIsKept() {
        keep(A, new Verdict.Deleted(A, HANDLE, null, 2, Instant.EPOCH, Instant.EPOCH));
        cache.dropMergedAnswers();
        assertThat(cache.get(Ref.of(A))).isInstanceOf(Verdict.Deleted.class);
    }

    @Test
    void cachedRowsAreBounded() {
        for (int i = 0; i < 1000; i++) {
            Puri puri = Puri.parse("m:t:" + i);
            keep(puri, found(puri, null));
        }
        CacheStatistics statistics = cache.statistics(0, CacheStatistics.Feed.CURRENT, null);
        assertThat(statistics.rows()).isLessThanOrEqualTo(100);
        assertThat(statistics.evictions()).isEqualTo(1000 - statistics.rows());
    }
}
