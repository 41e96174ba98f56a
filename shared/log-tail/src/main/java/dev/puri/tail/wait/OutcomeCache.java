package dev.puri.tail.wait;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Topics;
import dev.puri.tail.RecentEntries;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Outcomes of events that no row shows: the last event of each name without a row, refused events, and events of
 * namespaces' own topics. Keeps the newest {@value #MAX_ENTRIES} of each kind. Thread-safe.
 */
public final class OutcomeCache {
    private static final Logger log = LoggerFactory.getLogger(OutcomeCache.class);

    /** An entry with names of usual length takes 200 to 300 bytes; all three kinds together take about 80 MB. */
    static final int MAX_ENTRIES = 100_000;

    private final BiConsumer<Puri, Instant> onErasure;
    private final RecentEntries<Puri, Position> lastEventWithoutRow = new RecentEntries<>(MAX_ENTRIES);
    private final RecentEntries<Position, Refused> refused = new RecentEntries<>(MAX_ENTRIES);
    private final RecentEntries<Position, Puri> ofOwnTopics = new RecentEntries<>(MAX_ENTRIES);

    private final Counter recordsWithoutPosition;
    private final AtomicBoolean hasLogged = new AtomicBoolean();

    /** Creates an empty cache that does not report erasures. */
    public OutcomeCache(MeterRegistry meters) {
        this(meters, (puri, at) -> {});
    }

    /**
     * Creates an empty cache.
     *
     * @param onErasure called with the name and the time of each erasure
     */
    public OutcomeCache(MeterRegistry meters, BiConsumer<Puri, Instant> onErasure) {
        this.onErasure = onErasure;
        recordsWithoutPosition = Counter.builder("puri.identities.without.position")
                .description(
                        "Records of " + Topics.IDENTITIES + " whose headers do not name the event that caused them")
                .register(meters);
    }

    /**
     * Reads from its headers which event caused a record. Records without valid headers are counted, and the first of
     * them is logged. The rows of such records keep their own position, which is never too late, so no wait ends too
     * early.
     *
     * @param place the record's topic, partition and offset, for the log
     * @return null if the headers are missing or malformed
     */
    public @Nullable EventOutcome read(Puri puri, Headers headers, Supplier<String> place) {
        String cause = "a header is missing";
        try {
            EventOutcome outcome = EventOutcome.of(headers);
            if (outcome != null || Topics.isMarker(puri)) {
                return outcome;
            }
        } catch (IllegalArgumentException e) {
            cause = String.valueOf(e.getMessage());
        }
        recordsWithoutPosition.increment();
        if (!hasLogged.getAndSet(true)) {
            log.warn(
                    "The record at {} does not name the event that caused it, so waits for that event time out"
                            + " (further records without valid headers are only counted): {}",
                    place.get(),
                    cause);
        }
        return null;
    }

    /** The name of a refused event and the reason of the refusal. */
    public record Refused(Puri puri, Reason reason) {}

    /** Notes that the event at this position erased the row of a name. */
    public void erased(Puri puri, Position position, Instant at) {
        addWithoutRow(puri, position);
        onErasure.accept(puri, at);
    }

    /** Notes that a name has no row after the event at this position. */
    public void addWithoutRow(Puri puri, Position position) {
        synchronized (lastEventWithoutRow) {
            lastEventWithoutRow.put(puri, position);
        }
    }

    /** Notes that the event at this position was refused. */
    public void refused(Puri puri, Position position, Reason reason) {
        synchronized (refused) {
            refused.put(position, new Refused(puri, reason));
        }
    }

    /**
     * Notes that the event at this position was decided and readers can see the result. A namespace's own topic may
     * have another number of partitions than the shared topic, and its producers may use another partitioner. So events
     * of a name may be in several partitions, but the row shows only one position. Therefore each of these events is
     * cached.
     */
    public void addDecided(Puri puri, Position position) {
        if (!position.topic().equals(Topics.EVENTS)) {
            synchronized (ofOwnTopics) {
                ofOwnTopics.put(position, puri);
            }
        }
    }

    /** Returns whether the event is cached as decided with a visible result; false also if it was evicted. */
    public boolean isDecided(Puri puri, Position position) {
        synchronized (ofOwnTopics) {
            Puri cachedPuri = ofOwnTopics.get(position);
            return cachedPuri != null && cachedPuri.equals(puri);
        }
    }

    /** Returns the last event after which a name had no row; null if none is cached. */
    public @Nullable Position lastEventWithoutRow(Puri puri) {
        synchronized (lastEventWithoutRow) {
            return lastEventWithoutRow.get(puri);
        }
    }

    /** Returns the refused event at a position; null if none is cached. */
    public @Nullable Refused refusalAt(Position position) {
        synchronized (refused) {
            return refused.get(position);
        }
    }
}
