package dev.puri.client;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes the events of one service. Each gets an id of its own, with which it can be published any number of times.
 *
 * <pre>{@code
 * Events events = new Events("catalog");
 * Event created = events.created(track, new Owner("catalog"), new Shard("br-1")).attribute("title", "Blue").build();
 * Event moved = events.moved(track.puri(), new Shard("br-2")).ifEpoch(1).build();
 * }</pre>
 *
 * <p>Thread-safe; the drafts that it returns are not.
 */
public final class Events {
    private final IdentityMinter minter;
    private final String source;
    private final InstantSource clock;

    /**
     * @param source name of the service, written into each event; 1 to {@value Event#MAX_SOURCE_LENGTH} characters
     */
    public Events(String source) {
        this(new IdentityMinter(), source, InstantSource.system());
    }

    Events(IdentityMinter minter, String source, InstantSource clock) {
        this.minter = minter;
        this.source = source;
        this.clock = clock;
    }

    /**
     * Reports that an object was created.
     *
     * @param owner the service that owns it
     * @param shard the shard that has its row
     */
    public TextDraft created(NewIdentity identity, Owner owner, Shard shard) {
        return new TextDraft(
                identity.puri(),
                attributes -> new Change.Created(identity.uuid(), owner, shard, identity.handle(), attributes));
    }

    /** Reports that an object's row is in another shard now, of the same owner. */
    public Draft moved(Puri puri, Shard shard) {
        return new Draft(puri, new Change.Moved(null, shard));
    }

    /** Reports that an object's row is in another shard now, of this owner. */
    public Draft moved(Puri puri, Owner owner, Shard shard) {
        return new Draft(puri, new Change.Moved(owner, shard));
    }

    /** Replaces an object's searched text by the attributes that are added to the draft. */
    public TextDraft described(Puri puri) {
        return new TextDraft(puri, Change.Described::new);
    }

    /** Reports that an object was merged into another, the survivor. */
    public Draft merged(Puri puri, Puri survivor) {
        return new Draft(puri, new Change.Merged(survivor));
    }

    /** Reports that an object was deleted; its name stays taken. */
    public Draft deleted(Puri puri) {
        return new Draft(puri, new Change.Deleted());
    }

    /** Reports that an object was deleted, and lets every copy of its name and text be removed. */
    public Draft erased(Puri puri) {
        return new Draft(puri, new Change.Erased());
    }

    /** An event that is not complete yet. */
    public class Draft {
        private final Puri puri;
        private final @Nullable Change change;
        private UUID eventId = minter.uuid();
        private Instant occurredAt = clock.instant();
        private @Nullable UUID ifUuid;
        private @Nullable Long ifEpoch;

        private Draft(Puri puri, @Nullable Change change) {
            this.puri = puri;
            this.change = change;
        }

        /** Sets the event's id; a new one by default. */
        public Draft eventId(UUID id) {
            eventId = id;
            return this;
        }

        /** Sets the time of the change, by this service's clock; now by default. */
        public Draft occurredAt(Instant time) {
            occurredAt = time;
            return this;
        }

        /** Lets the registry refuse the event unless the object's row has this primary key. */
        public Draft ifUuid(UUID uuid) {
            ifUuid = uuid;
            return this;
        }

        /** Lets the registry refuse the event unless the object's row has this epoch. */
        public Draft ifEpoch(long epoch) {
            ifEpoch = epoch;
            return this;
        }

        /**
         * Builds the event.
         *
         * @throws IllegalArgumentException if a part of it is out of its bounds; the message names the part
         */
        public Event build() {
            return new Event(eventId, puri, occurredAt, source, ifUuid, ifEpoch, change());
        }

        Change change() {
            if (change == null) {
                throw new IllegalStateException("a draft without a change");
            }
            return change;
        }
    }

    /** A draft of an event with searched text. */
    public final class TextDraft extends Draft {
        private final Function<Map<String, String>, Change> withAttributes;
        private final Map<String, String> attributes = new LinkedHashMap<>();

        private TextDraft(Puri puri, Function<Map<String, String>, Change> withAttributes) {
            super(puri, null);
            this.withAttributes = withAttributes;
        }

        /** Adds an attribute, or replaces its value. */
        public TextDraft attribute(String name, String value) {
            attributes.put(name, value);
            return this;
        }

        /** Adds attributes. */
        public TextDraft attributes(Map<String, String> all) {
            attributes.putAll(all);
            return this;
        }

        @Override
        public TextDraft eventId(UUID id) {
            super.eventId(id);
            return this;
        }

        @Override
        public TextDraft occurredAt(Instant time) {
            super.occurredAt(time);
            return this;
        }

        @Override
        public TextDraft ifUuid(UUID uuid) {
            super.ifUuid(uuid);
            return this;
        }

        @Override
        public TextDraft ifEpoch(long epoch) {
            super.ifEpoch(epoch);
            return this;
        }

        @Override
        Change change() {
            return withAttributes.apply(attributes);
        }
    }
}
