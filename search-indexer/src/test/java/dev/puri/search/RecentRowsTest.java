package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import org.junit.jupiter.api.Test;

final class RecentRowsTest {
    private static final Puri TRACK = Puri.parse("soundcloud:tracks:1");

    @Test
    void theTimeOfAnEvictedRowIsStillBounded() {
        RecentRows recentRows = new RecentRows();
        long begun = System.nanoTime();
        recentRows.aboutToApply(TRACK);
        for (int i = 0; i < RecentRows.CAPACITY; i++) {
            recentRows.aboutToApply(Puri.parse("soundcloud:users:" + i));
        }

        assertThat(recentRows.writtenBeforeNanos(TRACK) - begun).isNotNegative();
    }

    @Test
    void applyingARowAgainAdvancesItsTime() {
        RecentRows recentRows = new RecentRows();
        recentRows.aboutToApply(TRACK);
        long begun = System.nanoTime();
        recentRows.aboutToApply(TRACK);

        assertThat(recentRows.writtenBeforeNanos(TRACK) - begun).isNotNegative();
    }

    @Test
    void theBearerThatTheEngineHadDoesNotReplaceThatOfALaterRow() {
        Handle handle = new Handle("trk_4k7vx9tz2nqr8w3");
        Puri later = Puri.parse("soundcloud:tracks:2");
        RecentRows recentRows = new RecentRows();
        recentRows.putRow(later, Position.parse("0-1"), handle);

        recentRows.putPuriIfAbsent(handle, TRACK);

        assertThat(recentRows.puriOf(handle)).isEqualTo(later);
    }
}
