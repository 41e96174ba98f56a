package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An event of a valid pURI that is not decided yet. It caches the decoded event and the pURI's {@link Registration},
 * because an event that claims a handle is processed twice: before and after the grant. Confined to one stream thread.
 */
final class PendingEvent {
    private final Puri puri;
    private final RawEvent raw;
    private final long receivedAt;
    private byte @Nullable [] storeKey;
    private @Nullable Event event;
    private @Nullable Registration registration;

    /**
     * @param receivedAt the time when the registrar first read the event, in ms since the epoch
     */
    PendingEvent(Puri puri, RawEvent raw, long receivedAt) {
        this.puri = puri;
        this.raw = raw;
        this.receivedAt = receivedAt;
    }

    Puri puri() {
        return puri;
    }

    /** The bytes of the pURI: the key of the record. An event without a key has no valid pURI. */
    byte[] key() {
        return Objects.requireNonNull(raw.key());
    }

    RawEvent raw() {
        return raw;
    }

    long receivedAt() {
        return receivedAt;
    }

    /** The {@link StoreKey} of the pURI. */
    byte[] storeKey() {
        if (storeKey == null) {
            storeKey = StoreKey.of(key());
        }
        return storeKey;
    }

    /** The decoded event; null until {@link #setEvent} is called. */
    @Nullable
    Event event() {
        return event;
    }

    void setEvent(Event event) {
        this.event = event;
    }

    /**
     * The registrar's state of the pURI before this event; null until {@link #setRegistration} is called. The
     * registration cannot change before this event is decided, because later events of the pURI wait.
     */
    @Nullable
    Registration registration() {
        return registration;
    }

    void setRegistration(Registration registration) {
        this.registration = registration;
    }
}
