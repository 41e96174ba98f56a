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
 * Outcomes that no row shows: the last event of a name without a row, refused events, and events of namespaces' own
 * topics. Of each kind the newest {@value #MOST}. Thread-safe.
 */
public final class OutcomeCache {
    private static final Logger log = LoggerFactory.getLogger(OutcomeCache.class);

    /** An entry takes 200 to 300 bytes with names of usual length: about 80 MB for all three kinds. */
    static final int MOST = 100_000;

    private final BiConsumer<Puri, Instant> erasures;
    private final RecentEntries<Puri, Position> gone = new RecentEntries<>(MOST);
    private final RecentEntries<Position, Refused> refused = new RecentEntries<>(MOST);
    private final RecentEntries<Position, Puri> ofNamespaces = new RecentEntries<>(MOST);

    private final Counter withoutPosition;
    private final AtomicBoolean isLogged = new AtomicBoolean();

    /** Creates an empty cache that reports erasures to nobody. */
    public OutcomeCache(MeterRegistry meters) {
        this(meters, (puri, at) -> {});
    }

    /**
     * Creates an empty cache.
     *
     * @param erasures called with the name and time of each erasure
     */
    public OutcomeCache(MeterRegistry meters, BiConsumer<Puri, Instant> erasures) {
        this.erasures = erasures;
        withoutPosition = Counter.builder("puri.identities.without.position")
                .description(
                        "Records of " + Topics.IDENTITIES + " whose headers do not name the event that they answer")
                .register(meters);
    }

    /**
     * Reads which event a record answers. Records without valid headers are counted, and the first one is logged. Their
     * rows are kept under the row's own position, so no wait ends too early.
     *
     * @param place of the record, for people
     * @return null when the headers are missing or malformed
     */
    public @Nullable EventOutcome read(Puri puri, Headers headers, Supplier<String> place) {
        String cause = "one of its headers is missing";
        try {
            EventOutcome answer = EventOutcome.of(headers);
            if (answer != null || Topics.isMarker(puri)) {
                return answer;
            }
        } catch (IllegalArgumentException e) {
            cause = String.valueOf(e.getMessage());
        }
        withoutPosition.increment();
        if (!isLogged.getAndSet(true)) {
            log.warn(
                    "The record at {} does not name the event that it answers, so waits for that event do not end"
                            + " (further ones are only counted): {}",
                    place.get(),
                    cause);
        }
        return null;
    }

    /** A refused event of a name. */
    public record Refused(Puri puri, Reason reason) {}

    /** Notes that this event erased the row of a name. */
    public void erased(Puri puri, Position position, Instant at) {
        noRow(puri, position);
        erasures.accept(puri, at);
    }

    /** Notes that there is no row of a name after this event. */
    public void noRow(Puri puri, Position position) {
        synchronized (gone) {
            gone.put(puri, position);
        }
    }

    /** Notes that this event was refused. */
    public void refused(Puri puri, Position position, Reason reason) {
        synchronized (refused) {
            refused.put(position, new Refused(puri, reason));
        }
    }

    /**
     * Notes that this event was answered and readers can see the result. A namespace's own topic may have another
     * number of partitions than the shared topic, and its producers another partitioner. So events of a name may come
     * from several partitions, but its row shows the position of one of them. Such events are remembered one by one.
     */
    public void answered(Puri puri, Position position) {
        if (!position.topic().equals(Topics.EVENTS)) {
            synchronized (ofNamespaces) {
                ofNamespaces.put(position, puri);
            }
        }
    }

    /** Whether an event of this name is remembered as answered; false if it was not, or was evicted. */
    public boolean isAnswered(Puri puri, Position position) {
        synchronized (ofNamespaces) {
            Puri answered = ofNamespaces.get(position);
            return answered != null && answered.equals(puri);
        }
    }

    /** The last event after which there was no row of a name; null when none is remembered. */
    public @Nullable Position lastWithoutRow(Puri puri) {
        synchronized (gone) {
            return gone.get(puri);
        }
    }

    /** The refused event at a position; null when none is remembered. */
    public @Nullable Refused refusalAt(Position position) {
        synchronized (refused) {
            return refused.get(position);
        }
    }
}
