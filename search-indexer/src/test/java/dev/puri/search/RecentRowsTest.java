package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Puri;
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
}
