package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Topics;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OutcomeMatcherTest {
    private static final Outcome TAKEN = Outcome.refused(Reason.PURI_TAKEN);

    private final List<String> told = new ArrayList<>();
    private final OutcomeMatcher expectations = telling();

    @Test
    void anOutcomeIsToldOnceWhetherItComesBeforeOrAfterTheAcknowledgement() {
        expectations.expect(at(0, 5), 1);
        assertThat(expectations.waitingCount()).isEqualTo(1);
        assertThat(expectations.addOutcome(at(0, 5), Outcome.APPLIED)).isTrue();
        assertThat(expectations.addOutcome(at(0, 6), Outcome.UNCHANGED)).isFalse();
        expectations.expect(at(0, 6), 2);
        assertThat(told).containsExactly("1 applied ", "2 unchanged ");
        assertThat(expectations.waitingCount()).isZero();
    }

    @Test
    void aRefusalIsToldWithItsRejectionInWhicheverOrderTheyCome() {
        expectations.expect(at(0, 1), 1);
        expectations.addOutcome(at(0, 1), TAKEN);
        assertThat(told).isEmpty();
        assertThat(expectations.waitingCount()).isZero();
        assertThat(expectations.lacksDetails()).isTrue();
        expectations.addRejection(at(0, 1), TAKEN, "held by another");

        expectations.addRejection(at(0, 2), TAKEN, "held too");
        expectations.addOutcome(at(0, 2), TAKEN);
        expectations.expect(at(0, 2), 2);
        assertThat(told).containsExactly("1 refused:PURI_TAKEN held by another", "2 refused:PURI_TAKEN held too");
        assertThat(expectations.lacksDetails()).isFalse();
    }

    /** An event in a topic that is not its namespace's has no record of identities. */
    @Test
    void aRejectionAloneSettlesItsEvent() {
        expectations.expect(at(0, 1), 1);
        expectations.addRejection(at(0, 1), TAKEN, "first");
        expectations.addRejection(at(0, 2), TAKEN, "second");
        expectations.expect(at(0, 2), 2);

        assertThat(told).containsExactly("1 refused:PURI_TAKEN first", "2 refused:PURI_TAKEN second");
        assertThat(expectations.waitingCount()).isZero();
        expectations.addOutcome(at(0, 2), TAKEN);
        assertThat(told).hasSize(2);
    }

    @Test
    void aRefusalWhoseRejectionDoesNotComeIsToldWithoutIt() {
        expectations.expect(at(0, 1), 1);
        expectations.addOutcome(at(0, 1), TAKEN);
        expectations.settleWithoutDetails();
        expectations.settleWithoutDetails();
        assertThat(told).containsExactly("1 refused:PURI_TAKEN ");
    }

    @Test
    void theSameOffsetOfAnotherPartitionOrTopicIsAnotherEvent() {
        expectations.expect(at(0, 5), 1);
        expectations.addOutcome(at(1, 5), Outcome.APPLIED);
        expectations.addOutcome(new Position(Topics.eventsOf("music"), 0, 5), Outcome.APPLIED);
        assertThat(told).isEmpty();
    }

    @Test
    void moreOutcomesOfOthersThanAreKeptDoNotHideOurs() {
        expectations.expect(at(0, 0), 1);
        for (int i = 1; i <= OutcomeMatcher.MAX_EARLY + 10; i++) {
            expectations.addOutcome(at(0, i), Outcome.APPLIED);
        }
        expectations.addOutcome(at(0, 0), Outcome.UNCHANGED);
        assertThat(told).containsExactly("1 unchanged ");
    }

    @Test
    void everyEventIsToldOnceHoweverTheThreeStreamsInterleave() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 300; round++) {
            told.clear();
            OutcomeMatcher expectations = telling();
            Deque<Runnable> acknowledgements = new ArrayDeque<>();
            Deque<Runnable> outcomes = new ArrayDeque<>();
            Deque<Runnable> rejections = new ArrayDeque<>();
            List<String> expected = new ArrayList<>();
            int events = random.nextInt(40);
            for (int i = 0; i < events; i++) {
                Position position = at(random.nextInt(3), i);
                long line = i;
                boolean ours = random.nextBoolean();
                Outcome outcome = random.nextInt(3) == 0 ? TAKEN : Outcome.APPLIED;
                outcomes.add(() -> expectations.addOutcome(position, outcome));
                if (outcome == TAKEN) {
                    rejections.add(() -> expectations.addRejection(position, outcome, "why " + line));
                }
                if (ours) {
                    acknowledgements.add(() -> expectations.expect(position, line));
                    expected.add(line + " " + outcome + " " + (outcome == TAKEN ? "why " + line : ""));
                }
            }
            interleave(random, List.of(acknowledgements, outcomes, rejections));
            assertThat(told).as("seed %d round %d", seed, round).containsExactlyInAnyOrderElementsOf(expected);
            assertThat(expectations.waitingCount()).isZero();
            assertThat(expectations.lacksDetails()).isFalse();
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

    private OutcomeMatcher telling() {
        return new OutcomeMatcher((line, outcome, detail) -> told.add(line + " " + outcome + " " + detail));
    }

    private static Position at(int partition, long offset) {
        return new Position(Topics.EVENTS, partition, offset);
    }
}
