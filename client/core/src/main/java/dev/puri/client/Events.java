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
 * Creates the events of one service. Each event has its own id, so the registry applies an event once, however often
 * the service publishes it.
 *
 * <pre>{@code
 * Events events = new Events("catalog");
 * Event created = events.created(track, new Owner("catalog"), new Shard("br-1")).attribute("title", "Blue").build();
 * Event moved = events.moved(track.puri(), new Shard("br-2")).ifEpoch(1).build();
 * }</pre>
 *
 * <p>Thread-safe. Drafts are not thread-safe.
 */
public final class Events {
    private final IdentityMinter minter;
    private final String source;
    private final InstantSource clock;

    /**
     * @param source name of the service, which each event contains; 1 to {@value Event#MAX_SOURCE_LENGTH} characters
     *     without control characters
     * @throws IllegalArgumentException if the name is not valid
     */
    public Events(String source) {
        this(new IdentityMinter(), source, InstantSource.system());
    }

    Events(IdentityMinter minter, String source, InstantSource clock) {
        Event.requireSource("source", source);
        this.minter = minter;
        this.source = source;
        this.clock = clock;
    }

    /**
     * Starts a draft for the creation of an object.
     *
     * @param owner the service that owns the object
     * @param shard the shard that has the object's row
     */
    public DraftWithAttributes created(NewIdentity identity, Owner owner, Shard shard) {
        return new DraftWithAttributes(
                identity.puri(),
                attributes -> new Change.Created(identity.uuid(), owner, shard, identity.handle(), attributes));
    }

    /** Starts a draft for the move of an object's row to another shard. The owner of the object is unchanged. */
    public Draft moved(Puri puri, Shard shard) {
        return new Draft(puri, new Change.Moved(null, shard));
    }

    /** Starts a draft for the move of an object's row to another shard and another owner. */
    public Draft moved(Puri puri, Owner owner, Shard shard) {
        return new Draft(puri, new Change.Moved(owner, shard));
    }

    /** Starts a draft that replaces all attributes of an object with the attributes of the draft. */
    public DraftWithAttributes described(Puri puri) {
        return new DraftWithAttributes(puri, Change.Described::new);
    }

    /** Starts a draft for the merge of an object into another object, the survivor. */
    public Draft merged(Puri puri, Puri survivor) {
        return new Draft(puri, new Change.Merged(survivor));
    }

    /** Starts a draft for the deletion of an object. Its pURI stays taken. */
    public Draft deleted(Puri puri) {
        return new Draft(puri, new Change.Deleted());
    }

    /** Starts a draft for the erasure of an object. The registry removes its pURI, handle and attributes everywhere. */
    public Draft erased(Puri puri) {
        return new Draft(puri, new Change.Erased());
    }

    /** Builder of one event. */
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

        /** Sets the event's id. The default is a new UUIDv7. */
        public Draft eventId(UUID id) {
            eventId = id;
            return this;
        }

        /**
         * Sets the time of the change, by the clock of this service. The default is the time at which the draft was
         * created.
         */
        public Draft occurredAt(Instant time) {
            occurredAt = time;
            return this;
        }

        /** Adds a condition: the registry refuses the event, except an erasure, if the identity has another uuid. */
        public Draft ifUuid(UUID uuid) {
            ifUuid = uuid;
            return this;
        }

        /** Adds a condition: the registry refuses the event, except an erasure, if the identity has another epoch. */
        public Draft ifEpoch(long epoch) {
            ifEpoch = epoch;
            return this;
        }

        /**
         * Builds the event.
         *
         * @throws IllegalArgumentException if a part of the event is out of bounds; the message names the part
         */
        public Event build() {
            return new Event(eventId, puri, occurredAt, source, ifUuid, ifEpoch, change());
        }

        Change change() {
            if (change == null) {
                throw new IllegalStateException("bug: a draft that has no change must override change()");
            }
            return change;
        }
    }

    /** Builder of an event with attributes. The search indexer indexes them. */
    public final class DraftWithAttributes extends Draft {
        private final Function<Map<String, String>, Change> toChange;
        private final Map<String, String> attributes = new LinkedHashMap<>();

        private DraftWithAttributes(Puri puri, Function<Map<String, String>, Change> toChange) {
            super(puri, null);
            this.toChange = toChange;
        }

        /** Adds an attribute, or replaces its value. */
        public DraftWithAttributes attribute(String name, String value) {
            attributes.put(name, value);
            return this;
        }

        /** Adds attributes, or replaces their values. */
        public DraftWithAttributes attributes(Map<String, String> moreAttributes) {
            attributes.putAll(moreAttributes);
            return this;
        }

        @Override
        public DraftWithAttributes eventId(UUID id) {
            super.eventId(id);
            return this;
        }

        @Override
        public DraftWithAttributes occurredAt(Instant time) {
            super.occurredAt(time);
            return this;
        }

        @Override
        public DraftWithAttributes ifUuid(UUID uuid) {
            super.ifUuid(uuid);
            return this;
        }

        @Override
        public DraftWithAttributes ifEpoch(long epoch) {
            super.ifEpoch(epoch);
            return this;
        }

        @Override
        Change change() {
            return toChange.apply(attributes);
        }
    }
}
