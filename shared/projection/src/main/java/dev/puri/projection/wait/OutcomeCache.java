package dev.puri.projection.wait;

import dev.puri.projection.RecentEntries;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Topics;
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
 * Caches the outcomes of events that the rows do not show, in three caches: the last event of each pURI without a row,
 * the refused events, and the decided events of namespaces' own topics. Each cache keeps its newest {@value
 * #MAX_ENTRIES} entries. Thread-safe.
 */
public final class OutcomeCache {
    private static final Logger log = LoggerFactory.getLogger(OutcomeCache.class);

    /**
     * The maximum number of entries of each of the three caches. An entry takes 200 to 300 bytes, so the caches take
     * about 80 MB together.
     */
    static final int MAX_ENTRIES = 100_000;

    private final BiConsumer<Puri, Instant> onErasure;
    private final RecentEntries<Puri, Position> lastEventWithoutRow = new RecentEntries<>(MAX_ENTRIES);
    private final RecentEntries<Position, CachedRefusal> refused = new RecentEntries<>(MAX_ENTRIES);
    private final RecentEntries<Position, Puri> decidedInOwnTopics = new RecentEntries<>(MAX_ENTRIES);

    private final Counter recordsWithoutPosition;
    private final AtomicBoolean hasLoggedMissingPosition = new AtomicBoolean();

    /** Creates an empty cache that does not report erasures. */
    public OutcomeCache(MeterRegistry meters) {
        this(meters, (puri, at) -> {});
    }

    /**
     * Creates an empty cache.
     *
     * @param onErasure called with the pURI and the time of each erasure
     */
    public OutcomeCache(MeterRegistry meters, BiConsumer<Puri, Instant> onErasure) {
        this.onErasure = onErasure;
        recordsWithoutPosition = Counter.builder("puri.identities.without.position")
                .description(
                        "Records of " + Topics.IDENTITIES + " whose headers do not name the event that caused them")
                .register(meters);
    }

    /**
     * Reads from its headers which event caused a record. Records without valid headers are counted, except markers,
     * and the first of them is logged. The row of such a record keeps the position in its value. This is the position
     * of an earlier event or of the same one, so no wait for a later event ends.
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
        if (!hasLoggedMissingPosition.getAndSet(true)) {
            log.warn(
                    "The record at {} does not name the event that caused it, so waits for that event may time out"
                            + " (further records without valid headers are only counted): {}",
                    place.get(),
                    cause);
        }
        return null;
    }

    /** The pURI of a refused event and the reason of the refusal. */
    public record CachedRefusal(Puri puri, Reason reason) {}

    /** Notes that the event at this position erased the row of a pURI. */
    public void addErased(Puri puri, Position position, Instant at) {
        addWithoutRow(puri, position);
        onErasure.accept(puri, at);
    }

    /** Notes that a pURI has no row after the event at this position. */
    public void addWithoutRow(Puri puri, Position position) {
        synchronized (lastEventWithoutRow) {
            lastEventWithoutRow.put(puri, position);
        }
    }

    /** Notes that the event at this position was refused. */
    public void addRefused(Puri puri, Position position, Reason reason) {
        synchronized (refused) {
            refused.put(position, new CachedRefusal(puri, reason));
        }
    }

    /**
     * Notes that an event of a namespace's own topic was decided and readers can see the result. Ignores events of the
     * shared topic: the row shows their position. Events of one pURI may be in several partitions of an own topic,
     * because it may have another number of partitions and other partitioners, and the row shows only one position. So
     * each event of an own topic is cached.
     */
    public void addDecided(Puri puri, Position position) {
        if (!position.topic().equals(Topics.EVENTS)) {
            synchronized (decidedInOwnTopics) {
                decidedInOwnTopics.put(position, puri);
            }
        }
    }

    /** Returns whether this event of a namespace's own topic is cached as decided; false also if it was evicted. */
    public boolean isDecided(Puri puri, Position position) {
        synchronized (decidedInOwnTopics) {
            Puri cachedPuri = decidedInOwnTopics.get(position);
            return cachedPuri != null && cachedPuri.equals(puri);
        }
    }

    /** Returns the last event after which a pURI had no row; null if none is cached. */
    public @Nullable Position lastEventWithoutRow(Puri puri) {
        synchronized (lastEventWithoutRow) {
            return lastEventWithoutRow.get(puri);
        }
    }

    /** Returns the refused event at a position; null if none is cached. */
    public @Nullable CachedRefusal refusalAt(Position position) {
        synchronized (refused) {
            return refused.get(position);
        }
    }
}
