package dev.puri.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PacerTest {
    private final AtomicLong clock = new AtomicLong(7);
    private final List<Long> progress = new ArrayList<>();
    private final Pacer pacer = new Pacer(1_000, progress::add, clock::get, clock::addAndGet);

    @Test
    void readsNoFasterThanTheRate() {
        for (int i = 0; i < 10; i++) {
            pacer.read(500);
        }
        assertThat(clock.get() - 7).isEqualTo(5_000_000_000L);
        assertThat(progress).hasSize(10).endsWith(5_000L);
    }

    @Test
    void aPauseIsNotMadeUpForByABurst() {
        clock.addAndGet(60_000_000_000L);
        long start = clock.get();
        pacer.read(1_000);
        assertThat(clock.get() - start).isEqualTo(1_000_000_000L);
    }
}
