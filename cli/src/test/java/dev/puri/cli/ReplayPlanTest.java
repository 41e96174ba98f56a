package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.cli.ReplayPlan.LoggedEvent;
import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Topics;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class ReplayPlanTest {
    private static final Instant TIME = Instant.parse("2026-03-01T10:00:00Z");
    private static final RejectionFilter NOT_ALLOWED =
            new RejectionFilter(Set.of(Reason.NOT_ALLOWED), Set.of(), null, null, null);

    private final List<StoredRejection> rejections = new ArrayList<>();
    private final Map<String, List<LoggedEvent>> logged = new HashMap<>();

    @Test
    void refusedEventsOfAPuriAreReplayedInTheirOrder() {
        refused("a:b:1", 10, "e1");
        refused("a:b:1", 11, "e2");
        refused("a:b:2", 12, "e3");

        assertThat(plan(false)).containsExactly("10 replay round 0", "11 replay round 1", "12 replay round 0");
    }

    @Test
    void onlyTheNewestRefusalOfAnEventIsReplayed() {
        refused("a:b:1", 10, "e1");
        refused("a:b:1", 15, "e1");

        assertThat(plan(false)).containsExactly("10 refused again", "15 replay round 0");
    }

    @Test
    void anEventThatWasPublishedAgainAndNotRefusedIsDone() {
        refused("a:b:1", 10, "e1");
        accepted("a:b:1", 15, "e1");

        assertThat(plan(false)).containsExactly("10 accepted");
        assertThat(plan(true)).containsExactly("10 accepted");
    }

    @Test
    void aLaterAcceptedEventSupersedesUnlessAskedFor() {
        refused("a:b:1", 10, "e1");
        accepted("a:b:1", 12, "e2");

        assertThat(plan(false)).containsExactly("10 superseded");
        assertThat(plan(true)).containsExactly("10 replay round 0");
    }

    @Test
    void theReplayOfAnOlderEventDoesNotSupersedeANewerOne() {
        refused("a:b:1", 10, "e1");
        refused("a:b:1", 11, "e2");
        accepted("a:b:1", 20, "e1");

        assertThat(plan(false)).containsExactly("10 accepted", "11 replay round 0");
    }

    @Test
    void anEarlierEventDoesNotSupersede() {
        accepted("a:b:1", 9, "e0");
        refused("a:b:1", 10, "e1");

        assertThat(plan(false)).containsExactly("10 replay round 0");
    }

    @Test
    void aRecordThatIsGoneReplacedOrNoEventIsNotReplayable() {
        refused("a:b:1", 10, "e1");
        logged.clear();
        refused("a:b:2", 11, "e2");
        logged.put("a:b:2", List.of(event(11, "another", null)));
        refused("a:b:3", 12, "e3");
        logged.put("a:b:3", List.of(event(12, "e3", "not Avro")));
        refused(null, 13, null);

        assertThat(plan(true))
                .containsExactly("10 not replayable", "11 not replayable", "12 not replayable", "13 not replayable");
    }

    /** Returns offset, action and round of each step. */
    private List<String> plan(boolean withSuperseded) {
        return ReplayPlan.of(rejections, NOT_ALLOWED, logged, withSuperseded).stream()
                .map(step -> step.stored().position().offset() + " " + step.action()
                        + (step.action() == ReplayPlan.Action.REPLAY ? " round " + step.round() : ""))
                .toList();
    }

    private void refused(@Nullable String puri, long offset, @Nullable String eventId) {
        Rejection rejection = new Rejection(
                "NOT_ALLOWED",
                "",
                new EventPosition(Topics.EVENTS, 3, offset),
                TIME.plusSeconds(offset),
                puri,
                eventId,
                null,
                null,
                null,
                hash(String.valueOf(eventId)),
                2L,
                ByteBuffer.allocate(0));
        rejections.add(new StoredRejection(rejection, new TopicPartition(Topics.REJECTIONS, 3), offset));
        if (puri != null && eventId != null) {
            accepted(puri, offset, eventId);
        }
    }

    /** Adds a record. It is accepted unless its position is refused. */
    private void accepted(String puri, long offset, String eventId) {
        logged.computeIfAbsent(puri, none -> new ArrayList<>()).add(event(offset, eventId, null));
    }

    private static LoggedEvent event(long offset, String eventId, @Nullable String invalid) {
        return new LoggedEvent(
                new Position(Topics.EVENTS, 3, offset), TIME.plusSeconds(offset), hash(eventId), eventId, invalid);
    }

    private static ByteBuffer hash(String eventId) {
        return ByteBuffer.wrap(eventId.getBytes(StandardCharsets.UTF_8));
    }
}
