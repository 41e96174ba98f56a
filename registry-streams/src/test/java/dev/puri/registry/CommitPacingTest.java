package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class CommitPacingTest {
    private static final Duration COMMIT = Duration.ofMillis(4);
    private static final Duration USUAL_POLL = Duration.ofMillis(100);

    private long now = -5;
    private int requests;
    private final CommitPacing pacing = new CommitPacing(now);

    private void pass(Duration time) {
        now += time.toNanos();
    }

    private void process() {
        pacing.onProcessed(() -> requests++, now);
    }

    private void commit(Duration time) {
        long began = now;
        pass(time);
        pacing.onCommit(began, now);
    }

    /**
     * Processes records at a steady rate, each in its own poll; each request is committed at once.
     *
     * @return how many of them requested a commit
     */
    private int requests(int records, int rate, Duration commit) {
        int before = requests;
        long due = now;
        for (int i = 0; i < records; i++) {
            due += Duration.ofSeconds(1).toNanos() / rate;
            now = Math.max(now, due);
            pacing.onPoll(1, now);
            int requestsBefore = requests;
            process();
            if (requests > requestsBefore) {
                commit(commit);
            }
        }
        return requests - before;
    }

    @Test
    void commitsRecordsOfASingleClientAtOnce() {
        assertThat(requests(100, 40, COMMIT)).isEqualTo(100);
        assertThat(requests(100, 100, COMMIT)).isEqualTo(100);
    }

    @Test
    void commitsOncePerPoll() {
        pacing.onPoll(3, now);
        process();
        process();
        assertThat(requests).isZero();
        process();
        assertThat(requests).isOne();
    }

    @Test
    void firstAllowedEmptyPollMakesADelayedRequest() {
        assertThat(pacing.pollTimeout(USUAL_POLL)).isEqualTo(USUAL_POLL);
        pacing.onPoll(200, now);
        for (int i = 0; i < 200; i++) {
            process();
        }
        assertThat(requests).isZero();
        assertThat(pacing.pollTimeout(USUAL_POLL)).isLessThan(USUAL_POLL);
        assertThat(pacing.pollTimeout(Duration.ZERO)).isEqualTo(Duration.ZERO);

        pass(Duration.ofMillis(5));
        pacing.onPoll(0, now);
        assertThat(requests).isZero();
        pass(Duration.ofMillis(15));
        pacing.onPoll(0, now);
        assertThat(requests).isOne();
        assertThat(pacing.pollTimeout(USUAL_POLL)).isEqualTo(USUAL_POLL);
    }

    @Test
    void commitOfTheIntervalReplacesADelayedRequest() {
        pacing.onPoll(200, now);
        for (int i = 0; i < 200; i++) {
            process();
        }
        commit(COMMIT);
        assertThat(pacing.pollTimeout(USUAL_POLL)).isEqualTo(USUAL_POLL);
    }

    @Test
    void commitsMillisecondsApartAtHundredsOfRecordsPerSecond() {
        requests(750, 750, COMMIT);
        assertThat(requests(750, 750, COMMIT)).isBetween(60, 150);
    }

    @Test
    void requestsNoCommitsUnderHighLoad() {
        requests(15_000, 15_000, COMMIT);
        // The interval of 100 ms commits ten times a second.
        assertThat(requests(15_000, 15_000, COMMIT)).isLessThan(20);
    }

    @Test
    void slowCommitsAre25MillisecondsApart() {
        Duration slow = Duration.ofMillis(50);
        requests(20, 20, slow);
        long began = now;
        int made = requests(200, 40, slow);
        // 25 ms after every commit of 50 ms.
        assertThat(made * slow.toNanos()).isBetween((now - began) * 6 / 10, (now - began) * 7 / 10);
        assertThat(made).isPositive();
    }

    @Test
    void slowCommitsUnderHighLoadLeaveNoDebt() {
        for (int i = 0; i < 5_000; i++) {
            pass(Duration.ofMillis(25));
            commit(Duration.ofMillis(100));
        }
        pass(Duration.ofMillis(150));
        assertThat(requests(10, 100, COMMIT)).isEqualTo(10);
    }
}
