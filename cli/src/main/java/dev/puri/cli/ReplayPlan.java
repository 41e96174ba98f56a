package dev.puri.cli;

import dev.puri.cli.io.LogReader;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Position;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides which refused events are published again. It uses only the log, so a second run detects the events that the
 * first run has published. The first matching line decides:
 *
 * <pre>
 * the event was published again, and not refused       accepted, or not decided yet
 * the event was published again, and refused again     refused again: only its newest rejection is replayed
 * its record is gone, or is still not a valid event    not replayable
 * a later event of its pURI was not refused            superseded
 * otherwise                                            replay
 * </pre>
 *
 * <p>Two records are of the same event if they have the same event id or the same value. An event is later than another
 * one if its first record is later. So the replay of an older event does not supersede a newer one.
 */
final class ReplayPlan {
    /**
     * The order of the registry's decisions about a pURI. All rejections of a key are in one partition, so the offsets
     * give the order. The times do not, because the clocks of two instances of the topology differ.
     */
    private static final Comparator<StoredRejection> BY_DECISION = Comparator.comparingInt(
                    (StoredRejection stored) -> stored.partition().partition())
            .thenComparingLong(StoredRejection::offset);

    private ReplayPlan() {}

    /**
     * A record of an events topic.
     *
     * @param appendedAt time when the broker appended the record
     * @param sha256 SHA-256 of the value
     * @param eventId the event's id; null if the record is not a valid event
     * @param invalid why the record is not a valid event; null if it is valid
     */
    record LoggedEvent(
            Position position,
            Instant appendedAt,
            ByteBuffer sha256,
            @Nullable String eventId,
            @Nullable String invalid) {}

    /** The treatment of a refused event. */
    enum Action {
        REPLAY,
        /** The event was published again, and not refused. */
        ACCEPTED,
        /** The event was published again and refused again. Only the newest rejection of an event is replayed. */
        REFUSED_AGAIN,
        /** A later event of the pURI was accepted, and a replay could undo it. */
        SUPERSEDED,
        /** The event cannot be published again unchanged, or is still not a valid event. */
        NOT_REPLAYABLE;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    /**
     * The decision about a refused event.
     *
     * @param note the reason as a message for the user; empty for a replay
     * @param round number of earlier events of the pURI that the plan replays
     */
    record Step(StoredRejection stored, Action action, String note, int round) {}

    /**
     * Plans the replay of the selected rejections.
     *
     * @param rejections all rejections of the pURIs of selected rejections
     * @param filter selects rejections
     * @param logged the records of these pURIs in the events topics, by pURI, from the first refused one on
     * @param withSuperseded whether to replay events although a later event of their pURI was accepted
     * @return a step for each selected rejection, the oldest first
     */
    static List<Step> of(
            List<StoredRejection> rejections,
            RejectionFilter filter,
            Map<String, List<LoggedEvent>> logged,
            boolean withSuperseded) {
        Map<String, History> histories = new LinkedHashMap<>();
        List<Step> steps = new ArrayList<>();
        for (StoredRejection stored : rejections.stream().sorted(BY_DECISION).toList()) {
            String puri = stored.rejection().getPuri();
            if (puri != null) {
                histories
                        .computeIfAbsent(puri, none -> new History(logged.getOrDefault(puri, List.of())))
                        .add(stored);
            } else if (filter.matches(stored.rejection())) {
                steps.add(new Step(stored, Action.NOT_REPLAYABLE, "its key is not a pURI", 0));
            }
        }
        histories.values().forEach(history -> steps.addAll(history.steps(filter, withSuperseded)));
        steps.sort(Comparator.comparing(step -> step.stored().rejection().getRejectedAt()));
        return steps;
    }

    /** The rejections of one event in the order of its records. */
    private static final class RefusedEvent {
        final List<StoredRejection> rejections = new ArrayList<>();

        StoredRejection first() {
            return rejections.getFirst();
        }

        StoredRejection newest() {
            return rejections.getLast();
        }
    }

    /** The rejections and the records of one pURI. */
    private static final class History {
        /** The refused events in the order of their first rejections. */
        private final List<RefusedEvent> events = new ArrayList<>();

        private final Map<String, RefusedEvent> byEventId = new HashMap<>();
        private final Map<ByteBuffer, RefusedEvent> byValue = new HashMap<>();
        private final Set<Position> refused = new HashSet<>();
        private final List<LoggedEvent> logged;

        History(List<LoggedEvent> logged) {
            this.logged = logged;
        }

        /** Adds a rejection. Rejections must be added in the order in which the registry decided. */
        void add(StoredRejection stored) {
            Rejection rejection = stored.rejection();
            RefusedEvent known = eventOf(rejection.getEventId(), rejection.getSha256());
            RefusedEvent event = known == null ? new RefusedEvent() : known;
            if (known == null) {
                events.add(event);
            }
            event.rejections.add(stored);
            byValue.put(rejection.getSha256(), event);
            if (rejection.getEventId() != null) {
                byEventId.put(rejection.getEventId(), event);
            }
            refused.add(stored.position());
        }

        private @Nullable RefusedEvent eventOf(@Nullable String eventId, ByteBuffer sha256) {
            RefusedEvent known = eventId == null ? null : byEventId.get(eventId);
            return known != null ? known : byValue.get(sha256);
        }

        List<Step> steps(RejectionFilter filter, boolean withSuperseded) {
            List<Step> steps = new ArrayList<>();
            int replayCount = 0;
            for (RefusedEvent event : events) {
                for (StoredRejection stored : event.rejections) {
                    if (filter.matches(stored.rejection())) {
                        Step step = step(stored, event, withSuperseded, replayCount);
                        steps.add(step);
                        replayCount += step.action() == Action.REPLAY ? 1 : 0;
                    }
                }
            }
            return steps;
        }

        private Step step(StoredRejection stored, RefusedEvent event, boolean withSuperseded, int round) {
            LoggedEvent accepted = firstAcceptedAfter(event, true);
            if (accepted != null) {
                return new Step(
                        stored, Action.ACCEPTED, "published again at " + accepted.position() + ", not refused", 0);
            }
            StoredRejection newest = event.newest();
            if (newest != stored) {
                return new Step(
                        stored,
                        Action.REFUSED_AGAIN,
                        "refused again at " + newest.position() + ": "
                                + newest.rejection().getReason(),
                        0);
            }
            String obstacle = obstacle(stored);
            if (obstacle != null) {
                return new Step(stored, Action.NOT_REPLAYABLE, obstacle, 0);
            }
            LoggedEvent later = firstAcceptedAfter(event, false);
            if (later != null && !withSuperseded) {
                return new Step(stored, Action.SUPERSEDED, "a later event at " + later.position() + " was accepted", 0);
            }
            return new Step(stored, Action.REPLAY, "", round);
        }

        /** Returns why a refused event cannot be replayed, or null. */
        private @Nullable String obstacle(StoredRejection stored) {
            Rejection rejection = stored.rejection();
            for (LoggedEvent each : logged) {
                if (each.position().equals(stored.position()) && each.sha256().equals(rejection.getSha256())) {
                    return each.invalid();
                }
            }
            return "the events topic no longer contains the event";
        }

        /**
         * Returns the first record that was not refused after an event was refused for the first time; null if there is
         * none.
         *
         * @param ofSameEvent whether to look for records of the event itself, or for later events
         */
        private @Nullable LoggedEvent firstAcceptedAfter(RefusedEvent event, boolean ofSameEvent) {
            for (LoggedEvent each : logged) {
                if (!refused.contains(each.position()) && isAfter(each, event.first())) {
                    RefusedEvent other = eventOf(each.eventId(), each.sha256());
                    boolean isSame = other == event;
                    boolean isOlder = other != null && BY_DECISION.compare(other.first(), event.first()) < 0;
                    if (ofSameEvent ? isSame : !isSame && !isOlder) {
                        return each;
                    }
                }
            }
            return null;
        }

        /** Returns whether a record is later than a rejected one. Between partitions the broker's time decides. */
        private static boolean isAfter(LoggedEvent logged, StoredRejection stored) {
            return LogReader.partitionOf(logged.position()).equals(LogReader.partitionOf(stored.position()))
                    ? logged.position().offset() > stored.position().offset()
                    : logged.appendedAt().isAfter(stored.rejection().getRejectedAt());
        }
    }
}
