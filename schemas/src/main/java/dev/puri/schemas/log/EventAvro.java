package dev.puri.schemas.log;

import dev.puri.schemas.avro.Created;
import dev.puri.schemas.avro.Deleted;
import dev.puri.schemas.avro.Described;
import dev.puri.schemas.avro.Erased;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.avro.Merged;
import dev.puri.schemas.avro.Moved;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;

/** Between an {@link Event} and its Avro form. */
public final class EventAvro {
    private EventAvro() {}

    /** The record to publish. */
    public static IdentityEvent toAvro(Event event) {
        return new IdentityEvent(
                event.eventId(),
                event.puri().toString(),
                event.occurredAt(),
                event.source(),
                event.uuid(),
                event.expectedEpoch(),
                toAvro(event.change()));
    }

    /**
     * @throws IllegalArgumentException when a part breaks its rule; the message names it. {@link
     *     dev.puri.schemas.identity.InvalidNameException} where a name does
     */
    public static Event fromAvro(IdentityEvent avro) {
        return new Event(
                avro.getEventId(),
                Puri.parse(avro.getPuri()),
                avro.getOccurredAt(),
                avro.getSource(),
                avro.getUuid(),
                avro.getExpectedEpoch(),
                change(avro.getChange()));
    }

    private static Object toAvro(Change change) {
        if (change instanceof Change.Created created) {
            return new Created(
                    created.uuid(),
                    created.owner().text(),
                    created.shard().text(),
                    created.handle() == null ? null : created.handle().text(),
                    created.attributes());
        }
        if (change instanceof Change.Moved moved) {
            return new Moved(
                    moved.owner() == null ? null : moved.owner().text(),
                    moved.shard().text());
        }
        if (change instanceof Change.Described described) {
            return new Described(described.attributes());
        }
        if (change instanceof Change.Merged merged) {
            return new Merged(merged.into().toString());
        }
        // Java 17 has no exhaustive switch over a sealed type; a test publishes one of each.
        return change instanceof Change.Deleted ? new Deleted() : new Erased();
    }

    private static Change change(Object avro) {
        if (avro instanceof Created created) {
            return new Change.Created(
                    created.getUuid(),
                    new Owner(created.getOwner()),
                    new Shard(created.getShard()),
                    created.getHandle() == null ? null : Handle.parse(created.getHandle()),
                    created.getAttributes());
        }
        if (avro instanceof Moved moved) {
            return new Change.Moved(
                    moved.getOwner() == null ? null : new Owner(moved.getOwner()), new Shard(moved.getShard()));
        }
        if (avro instanceof Described described) {
            return new Change.Described(described.getAttributes());
        }
        if (avro instanceof Merged merged) {
            return new Change.Merged(Puri.parse(merged.getInto()));
        }
        if (avro instanceof Deleted) {
            return new Change.Deleted();
        }
        if (avro instanceof Erased) {
            return new Change.Erased();
        }
        throw new IllegalArgumentException(
                "a change of unknown kind: " + avro.getClass().getName());
    }
}
