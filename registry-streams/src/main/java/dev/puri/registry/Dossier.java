package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import org.jspecify.annotations.Nullable;

/**
 * An event that came under a pURI, and what has been found out about it: kept together, because an
 * event that claims a handle is looked at twice. Belongs to one stream thread.
 */
final class Dossier {
    private final Puri puri;
    private final Arrival arrival;
    private final long since;
    private byte @Nullable [] storeKey;
    private @Nullable Event event;
    private @Nullable Registration before;

    /**
     * @param since when it came first, ms since the epoch
     */
    Dossier(Puri puri, Arrival arrival, long since) {
        this.puri = puri;
        this.arrival = arrival;
        this.since = since;
    }

    Puri puri() {
        return puri;
    }

    /** The pURI's bytes. */
    byte[] key() {
        byte[] key = arrival.key();
        return key == null ? puri.toBytes() : key;
    }

    Arrival arrival() {
        return arrival;
    }

    long since() {
        return since;
    }

    /** Where the pURI's registration is kept. */
    byte[] storeKey() {
        if (storeKey == null) {
            storeKey = StoreKey.of(key());
        }
        return storeKey;
    }

    /** What its bytes say; null as long as nobody has read them. */
    @Nullable
    Event event() {
        return event;
    }

    void read(Event event) {
        this.event = event;
    }

    /** What was known of the pURI before it; null as long as nobody has looked. It holds until this is settled. */
    @Nullable
    Registration before() {
        return before;
    }

    void found(Registration before) {
        this.before = before;
    }
}
