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
     * @param source the service, as readers of the log are to see it; 1 to {@value Event#MAX_SOURCE_LENGTH} characters
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
     * An object was created.
     *
     * @param owner the service that has it
     * @param shard where its row is
     */
    public TextDraft created(NewIdentity identity, Owner owner, Shard shard) {
        return new TextDraft(
                identity.puri(),
                attributes -> new Change.Created(identity.uuid(), owner, shard, identity.handle(), attributes));
    }

    /** An object's row is in another shard now, of the same owner. */
    public Draft moved(Puri puri, Shard shard) {
        return new Draft(puri, new Change.Moved(null, shard));
    }

    /** An object's row is in another shard now, of this owner. */
    public Draft moved(Puri puri, Owner owner, Shard shard) {
        return new Draft(puri, new Change.Moved(owner, shard));
    }

    /** An object's searched text is what is added to the draft, and nothing else. */
    public TextDraft described(Puri puri) {
        return new TextDraft(puri, Change.Described::new);
    }

    /** An object goes on under another name. */
    public Draft merged(Puri puri, Puri survivor) {
        return new Draft(puri, new Change.Merged(survivor));
    }

    /** An object is gone; its name stays taken. */
    public Draft deleted(Puri puri) {
        return new Draft(puri, new Change.Deleted());
    }

    /** An object is gone, and every copy of its name and text is removed. */
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

        /** Gives the event an id that was made before; otherwise it has a new one. */
        public Draft eventId(UUID id) {
            eventId = id;
            return this;
        }

        /** When it happened, by this service's clock; now unless it is given. */
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
         * The event.
         *
         * @throws IllegalArgumentException when a part of it is out of its bounds; the message names it
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

    /** One that has searched text. */
    public final class TextDraft extends Draft {
        private final Function<Map<String, String>, Change> withText;
        private final Map<String, String> attributes = new LinkedHashMap<>();

        private TextDraft(Puri puri, Function<Map<String, String>, Change> withText) {
            super(puri, null);
            this.withText = withText;
        }

        /** Adds an attribute, or gives one another value. */
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
            return withText.apply(attributes);
        }
    }
}
