package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OutcomeMatcherTest {
    private static final ReportedOutcome APPLIED = ReportedOutcome.parse("applied");
    private static final ReportedOutcome UNCHANGED = ReportedOutcome.parse("unchanged");
    private static final ReportedOutcome TAKEN = ReportedOutcome.refused("PURI_TAKEN");

    private final List<String> reported = new ArrayList<>();
    private final OutcomeMatcher matcher = newMatcher();

    @Test
    void anOutcomeIsReportedOnceBeforeOrAfterTheAcknowledgement() {
        matcher.expect(at(0, 5), 1);
        assertThat(matcher.waitingCount()).isEqualTo(1);
        assertThat(matcher.addOutcome(at(0, 5), APPLIED)).isTrue();
        assertThat(matcher.addOutcome(at(0, 6), UNCHANGED)).isFalse();
        matcher.expect(at(0, 6), 2);
        assertThat(reported).containsExactly("1 applied ", "2 unchanged ");
        assertThat(matcher.waitingCount()).isZero();
    }

    @Test
    void aRefusalIsReportedWithItsRejectionInAnyOrder() {
        matcher.expect(at(0, 1), 1);
        matcher.addOutcome(at(0, 1), TAKEN);
        assertThat(reported).isEmpty();
        assertThat(matcher.waitingCount()).isZero();
        assertThat(matcher.lacksDetails()).isTrue();
        matcher.addRejection(at(0, 1), TAKEN, "held by another");

        matcher.addRejection(at(0, 2), TAKEN, "held too");
        matcher.addOutcome(at(0, 2), TAKEN);
        matcher.expect(at(0, 2), 2);
        assertThat(reported).containsExactly("1 refused:PURI_TAKEN held by another", "2 refused:PURI_TAKEN held too");
        assertThat(matcher.lacksDetails()).isFalse();
    }

    /** An event in the wrong topic of its namespace has no record in {@code puri.identities.v1}. */
    @Test
    void aRejectionAloneSettlesItsEvent() {
        matcher.expect(at(0, 1), 1);
        matcher.addRejection(at(0, 1), TAKEN, "first");
        matcher.addRejection(at(0, 2), TAKEN, "second");
        matcher.expect(at(0, 2), 2);

        assertThat(reported).containsExactly("1 refused:PURI_TAKEN first", "2 refused:PURI_TAKEN second");
        assertThat(matcher.waitingCount()).isZero();
        matcher.addOutcome(at(0, 2), TAKEN);
        assertThat(reported).hasSize(2);
    }

    @Test
    void aRefusalWithoutARejectionIsReportedWithoutDetail() {
        matcher.expect(at(0, 1), 1);
        matcher.addOutcome(at(0, 1), TAKEN);
        matcher.settleWithoutDetails();
        matcher.settleWithoutDetails();
        assertThat(reported).containsExactly("1 refused:PURI_TAKEN ");
    }

    @Test
    void theSameOffsetOfAnotherPartitionOrTopicIsAnotherEvent() {
        matcher.expect(at(0, 5), 1);
        matcher.addOutcome(at(1, 5), APPLIED);
        matcher.addOutcome(new Position(Topics.eventsTopicOf("music"), 0, 5), APPLIED);
        assertThat(reported).isEmpty();
    }

    @Test
    void manyOutcomesOfOtherProducersDoNotHideOurs() {
        matcher.expect(at(0, 0), 1);
        for (int i = 1; i <= OutcomeMatcher.MAX_EARLY + 10; i++) {
            matcher.addOutcome(at(0, i), APPLIED);
        }
        matcher.addOutcome(at(0, 0), UNCHANGED);
        assertThat(reported).containsExactly("1 unchanged ");
    }

    @Test
    void everyEventIsReportedOnceInAnyInterleaving() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 300; round++) {
            reported.clear();
            OutcomeMatcher matcher = newMatcher();
            Deque<Runnable> acknowledgements = new ArrayDeque<>();
            Deque<Runnable> outcomes = new ArrayDeque<>();
            Deque<Runnable> rejections = new ArrayDeque<>();
            List<String> expected = new ArrayList<>();
            int events = random.nextInt(40);
            for (int i = 0; i < events; i++) {
                Position position = at(random.nextInt(3), i);
                long line = i;
                boolean isOurs = random.nextBoolean();
                ReportedOutcome outcome = random.nextInt(3) == 0 ? TAKEN : APPLIED;
                outcomes.add(() -> matcher.addOutcome(position, outcome));
                if (outcome == TAKEN) {
                    rejections.add(() -> matcher.addRejection(position, outcome, "why " + line));
                }
                if (isOurs) {
                    acknowledgements.add(() -> matcher.expect(position, line));
                    expected.add(line + " " + outcome + " " + (outcome == TAKEN ? "why " + line : ""));
                }
            }
            interleave(random, List.of(acknowledgements, outcomes, rejections));
            assertThat(reported).as("seed %d round %d", seed, round).containsExactlyInAnyOrderElementsOf(expected);
            assertThat(matcher.waitingCount()).isZero();
            assertThat(matcher.lacksDetails()).isFalse();
        }
    }

    private static void interleave(Random random, List<Deque<Runnable>> streams) {
        while (streams.stream().anyMatch(stream -> !stream.isEmpty())) {
            Runnable next = streams.get(random.nextInt(streams.size())).poll();
            if (next != null) {
                next.run();
            }
        }
    }

    private OutcomeMatcher newMatcher() {
        return new OutcomeMatcher((line, outcome, detail) -> reported.add(line + " " + outcome + " " + detail));
    }

    private static Position at(int partition, long offset) {
        return new Position(Topics.EVENTS, partition, offset);
    }
}
