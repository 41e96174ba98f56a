package dev.puri.tail.wait;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What the registry answered and no row can tell: up to which event a name without a row was heard of,
 * and which events were refused. Of each the newest, {@value #MOST} of them.
 */
public final class Answers {
    /** Of an entry of either kind some 200 bytes: 40 MB at most. */
    static final int MOST = 100_000;

    private final BiConsumer<Puri, Instant> erasures;
    private final Map<Puri, Position> gone = new Newest<>();
    private final Map<Position, Refused> refused = new Newest<>();

    /** An event that was refused. */
    public record Refused(Puri puri, Reason reason) {}

    /** A map that forgets what was put first. */
    private static final class Newest<K, V> extends LinkedHashMap<K, V> {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > MOST;
        }
    }

    /** Tells nobody of erasures. */
    public Answers() {
        this((puri, at) -> {});
    }

    /**
     * @param erasures told of each name that was erased, and when
     */
    public Answers(BiConsumer<Puri, Instant> erasures) {
        this.erasures = erasures;
    }

    /** The row of this name was erased by this event. */
    public void erased(Puri puri, Position position, Instant at) {
        noRow(puri, position);
        erasures.accept(puri, at);
    }

    /** There is no row of this name, as of this event. */
    public void noRow(Puri puri, Position position) {
        synchronized (gone) {
            // Put anew, so that its age counts from now.
            gone.remove(puri);
            gone.put(puri, position);
        }
    }

    /** This event was refused. */
    public void refused(Puri puri, Position position, Reason reason) {
        synchronized (refused) {
            refused.put(position, new Refused(puri, reason));
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
