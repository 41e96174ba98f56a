package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class CommitPacingTest {
    private static final Duration COMMIT = Duration.ofMillis(4);

    private long now = -5;
    private final CommitPacing pacing = new CommitPacing(now);

    private void pass(Duration time) {
        now += time.toNanos();
    }

    /**
     * Processes so many records at a steady rate, each of a poll of its own; each request is committed at once.
     *
     * @return how many of them requested a commit
     */
    private int requests(int records, int rate, Duration commit) {
        int requests = 0;
        long due = now;
        for (int i = 0; i < records; i++) {
            due += Duration.ofSeconds(1).toNanos() / rate;
            now = Math.max(now, due);
            pacing.polled(1);
            if (pacing.isCommitDue(now)) {
                requests++;
                long began = now;
                pass(commit);
                pacing.committed(began, now);
            }
        }
        return requests;
    }

    @Test
    void aLoneClientsRecordsAreCommittedAtOnce() {
        assertThat(requests(100, 40, COMMIT)).isEqualTo(100);
        assertThat(requests(100, 100, COMMIT)).isEqualTo(100);
    }

    @Test
    void aPollIsCommittedAsAWhole() {
        pacing.polled(3);
        assertThat(pacing.isCommitDue(now)).isFalse();
        assertThat(pacing.isCommitDue(now)).isFalse();
        assertThat(pacing.isCommitDue(now)).isTrue();
    }

    @Test
    void pollsAreShortWhileACommitIsHeldBack() {
        Duration usual = Duration.ofMillis(100);
        assertThat(pacing.patience(usual)).isEqualTo(usual);
        requests(750, 750, COMMIT);
        while (pacing.isCommitDue(now)) {
            pacing.committed(now, now);
        }
        assertThat(pacing.patience(usual)).isLessThan(usual);
        assertThat(pacing.patience(Duration.ZERO)).isEqualTo(Duration.ZERO);
        pacing.committed(now, now);
        assertThat(pacing.patience(usual)).isEqualTo(usual);
    }

    @Test
    void commitsOfHundredsOfRecordsASecondAreSomeMillisecondsApart() {
        requests(750, 750, COMMIT);
        assertThat(requests(750, 750, COMMIT)).isBetween(60, 150);
    }

    @Test
    void commitsOfAFloodAreLeftToTheInterval() {
        requests(15_000, 15_000, COMMIT);
        // The interval of 25 ms commits forty times a second.
        assertThat(requests(15_000, 15_000, COMMIT)).isLessThan(20);
    }

    @Test
    void slowCommitsTakeAtMostHalfOfTheTime() {
        Duration slow = Duration.ofMillis(50);
        requests(20, 20, slow);
        long began = now;
        int requests = requests(200, 40, slow);
        assertThat(requests * slow.toNanos()).isLessThan((now - began) * 6 / 10);
        assertThat(requests).isPositive();
    }

    @Test
    void afterAFloodTheNextLoneRecordIsCommittedAtOnce() {
        requests(15_000, 15_000, COMMIT);
        pass(Duration.ofMillis(150));
        assertThat(requests(2, 100, COMMIT)).isEqualTo(2);
    }
}
