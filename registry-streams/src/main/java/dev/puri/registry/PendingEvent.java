package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import org.jspecify.annotations.Nullable;

/**
 * An event under a valid pURI that is not settled yet. It caches the decoded event and the registration, because an
 * event that claims a handle is processed twice: before and after the grant. Confined to one stream thread.
 */
final class PendingEvent {
    private final Puri puri;
    private final RawEvent raw;
    private final long receivedAt;
    private byte @Nullable [] storeKey;
    private @Nullable Event event;
    private @Nullable Registration registration;

    /**
     * @param receivedAt when the registrar first saw the event, in ms since the epoch
     */
    PendingEvent(Puri puri, RawEvent raw, long receivedAt) {
        this.puri = puri;
        this.raw = raw;
        this.receivedAt = receivedAt;
    }

    Puri puri() {
        return puri;
    }

    /** The pURI's bytes. */
    byte[] key() {
        byte[] key = raw.key();
        return key == null ? puri.toBytes() : key;
    }

    RawEvent raw() {
        return raw;
    }

    long receivedAt() {
        return receivedAt;
    }

    /** The key of the pURI's registration and text in the stores. */
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
     * The pURI's registration before this event; null until {@link #setRegistration} is called. It stays valid until
     * the event is settled, because later events of the pURI wait for this one.
     */
    @Nullable
    Registration registration() {
        return registration;
    }

    void setRegistration(Registration registration) {
        this.registration = registration;
    }
}
