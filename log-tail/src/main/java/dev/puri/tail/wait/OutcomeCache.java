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
 * What the registry answered and no row can tell: the last event of a name without a row, refused events, and events
 * of namespaces' own topics. Of each the newest, {@value #MOST} of them.
 */
public final class OutcomeCache {
    private static final Logger log = LoggerFactory.getLogger(OutcomeCache.class);

    /** An entry of any kind takes some 200 to 300 bytes with names of usual length: about 80 MB for all three. */
    static final int MOST = 100_000;

    private final BiConsumer<Puri, Instant> erasures;
    private final RecentEntries<Puri, Position> gone = new RecentEntries<>(MOST);
    private final RecentEntries<Position, Refused> refused = new RecentEntries<>(MOST);
    private final RecentEntries<Position, Puri> ofNamespaces = new RecentEntries<>(MOST);

    private final Counter withoutPosition;
    private final AtomicBoolean isLogged = new AtomicBoolean();

    /** Remembers nothing yet, and tells nobody of erasures. */
    public OutcomeCache(MeterRegistry meters) {
        this(meters, (puri, at) -> {});
    }

    /**
     * Remembers nothing yet.
     *
     * @param erasures called with each name that was erased, and when
     */
    public OutcomeCache(MeterRegistry meters, BiConsumer<Puri, Instant> erasures) {
        this.erasures = erasures;
        withoutPosition = Counter.builder("puri.identities.without.position")
                .description(
                        "Records of " + Topics.IDENTITIES + " whose headers do not name the event that they answer")
                .register(meters);
    }

    /**
     * Reads which event a record answers. A record that does not say it is counted, and the first one is
     * logged: its row is kept under the row's own position, so no token is answered too early.
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
                    "The record at {} does not name the event that it answers, so that event's token is not answered"
                            + " (further ones are only counted): {}",
                    place.get(),
                    cause);
        }
        return null;
    }

    /** An event that was refused. */
    public record Refused(Puri puri, Reason reason) {}

    /** The row of this name was erased by this event. */
    public void erased(Puri puri, Position position, Instant at) {
        noRow(puri, position);
        erasures.accept(puri, at);
    }

    /** There is no row of this name, as of this event. */
    public void noRow(Puri puri, Position position) {
        synchronized (gone) {
            gone.put(puri, position);
        }
    }

    /** This event was refused. */
    public void refused(Puri puri, Position position, Reason reason) {
        synchronized (refused) {
            refused.put(position, new Refused(puri, reason));
        }
    }

    /**
     * This event was answered, and what became of it can be seen. A namespace's own topic may have another number of
     * partitions than the shared one, and its producers their own partitioner: a name's events may come by several
     * partitions, and then the row, or the lack of one, is as of one of them alone. So these are remembered one by one.
     */
    public void answered(Puri puri, Position position) {
        if (!position.topic().equals(Topics.EVENTS)) {
            synchronized (ofNamespaces) {
                ofNamespaces.put(position, puri);
            }
        }
    }

    /** Whether it is remembered that an event of this name was answered; false may mean that it was forgotten. */
    public boolean isAnswered(Puri puri, Position position) {
        synchronized (ofNamespaces) {
            Puri answered = ofNamespaces.get(position);
            return answered != null && answered.equals(puri);
        }
    }

    /** The last event after which there was no row of this name; null when that is not remembered. */
    public @Nullable Position lastWithoutRow(Puri puri) {
        synchronized (gone) {
            return gone.get(puri);
        }
    }

    /** Whose event was refused there and why; null when none is remembered. */
    public @Nullable Refused refusalAt(Position position) {
        synchronized (refused) {
            return refused.get(position);
        }
    }
}
