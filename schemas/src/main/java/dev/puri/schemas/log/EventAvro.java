package dev.puri.schemas.log;

import dev.puri.schemas.avro.Created;
import dev.puri.schemas.avro.Deleted;
import dev.puri.schemas.avro.Described;
import dev.puri.schemas.avro.Erased;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.avro.Merged;
import dev.puri.schemas.avro.Moved;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.serde.GeneratedClasses;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.apache.avro.generic.IndexedRecord;
import org.jspecify.annotations.Nullable;

/** Converts an {@link Event} to and from Avro. */
public final class EventAvro {
    static {
        // Avro instantiates generated classes only if their package is trusted.
        GeneratedClasses.trust();
    }

    private EventAvro() {}

    /** Converts an event to a value of an events topic. */
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
        // Java 17 cannot check that all types are handled, so a test publishes an event of each type.
        return change instanceof Change.Deleted ? new Deleted() : new Erased();
    }

    /**
     * Converts a value of an events topic to an event.
     *
     * @throws IllegalArgumentException if a field is invalid; the message contains the name of the field
     */
    public static Event fromAvro(IdentityEvent avro) {
        return fromAvro((IndexedRecord) avro);
    }

    /** Converts a record that has the schema of {@link IdentityEvent}: a generated class or a generic record. */
    static Event fromAvro(IndexedRecord avro) {
        IndexedRecord change = (IndexedRecord) requiredField(avro, "change");
        Object uuid = optionalField(avro, "uuid");
        return new Event(
                uuid(requiredField(avro, "eventId"), "eventId"),
                parseField(requiredField(avro, "puri"), "puri", Puri::parse),
                instant(requiredField(avro, "occurredAt")),
                (String) requiredField(avro, "source"),
                uuid == null ? null : uuid(uuid, "uuid"),
                (Long) optionalField(avro, "expectedEpoch"),
                change(change));
    }

    private static Change change(IndexedRecord avro) {
        String type = avro.getSchema().getName();
        return switch (type) {
            case "Created" ->
                new Change.Created(
                        uuid(requiredField(avro, "uuid"), "change.uuid"),
                        parseField(requiredField(avro, "owner"), "change.owner", Owner::new),
                        parseField(requiredField(avro, "shard"), "change.shard", Shard::new),
                        parseOptional(optionalField(avro, "handle"), "change.handle", Handle::parse),
                        attributes(requiredField(avro, "attributes")));
            case "Moved" ->
                new Change.Moved(
                        parseOptional(optionalField(avro, "owner"), "change.owner", Owner::new),
                        parseField(requiredField(avro, "shard"), "change.shard", Shard::new));
            case "Described" -> new Change.Described(attributes(requiredField(avro, "attributes")));
            case "Merged" -> new Change.Merged(parseField(requiredField(avro, "into"), "change.into", Puri::parse));
            case "Deleted" -> new Change.Deleted();
            case "Erased" -> new Change.Erased();
            default -> throw new IllegalStateException("unknown type of change: " + type);
        };
    }

    private static <T> @Nullable T parseOptional(@Nullable Object text, String field, Function<String, T> parse) {
        return text == null ? null : parseField(text, field, parse);
    }

    private static <T> T parseField(Object text, String field, Function<String, T> parse) {
        try {
            return parse.apply((String) text);
        } catch (InvalidNameException e) {
            throw new IllegalArgumentException(field + " " + e.getMessage(), e);
        }
    }

    private static UUID uuid(Object value, String field) {
        return value instanceof UUID uuid ? uuid : Uuids.parse(value.toString(), field);
    }

    private static Instant instant(Object value) {
        return value instanceof Instant instant ? instant : Instant.ofEpochMilli((Long) value);
    }

    @SuppressWarnings("unchecked") // Keys and values are strings by the schema.
    private static Map<String, String> attributes(Object value) {
        return (Map<String, String>) value;
    }

    private static Object requiredField(IndexedRecord avro, String name) {
        return avro.get(avro.getSchema().getField(name).pos());
    }

    private static @Nullable Object optionalField(IndexedRecord avro, String name) {
        return avro.get(avro.getSchema().getField(name).pos());
    }
}
