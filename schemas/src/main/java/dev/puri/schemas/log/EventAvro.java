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
import org.apache.avro.Schema;
import org.apache.avro.generic.IndexedRecord;
import org.jspecify.annotations.Nullable;

/** Converts an {@link Event} to and from Avro. */
public final class EventAvro {
    static {
        // Otherwise Avro does not instantiate the generated classes.
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

    /**
     * @param avro a generated or generic record with the schema of {@link IdentityEvent}
     */
    static Event fromAvro(IndexedRecord avro) {
        IndexedRecord change = (IndexedRecord) avro.get(Field.CHANGE);
        Object uuid = avro.get(Field.UUID);
        return new Event(
                uuid(avro.get(Field.EVENT_ID), "eventId"),
                parseField(avro.get(Field.PURI), "puri", Puri::parse),
                instant(avro.get(Field.OCCURRED_AT)),
                (String) avro.get(Field.SOURCE),
                uuid == null ? null : uuid(uuid, "uuid"),
                (Long) avro.get(Field.EXPECTED_EPOCH),
                change(change));
    }

    private static Change change(IndexedRecord avro) {
        String type = avro.getSchema().getName();
        switch (type) {
            case "Created":
                return new Change.Created(
                        uuid(avro.get(Field.CREATED_UUID), "change.uuid"),
                        parseField(avro.get(Field.CREATED_OWNER), "change.owner", Owner::new),
                        parseField(avro.get(Field.CREATED_SHARD), "change.shard", Shard::new),
                        parseOptional(avro.get(Field.CREATED_HANDLE), "change.handle", Handle::parse),
                        attributes(avro.get(Field.CREATED_ATTRIBUTES)));
            case "Moved":
                return new Change.Moved(
                        parseOptional(avro.get(Field.MOVED_OWNER), "change.owner", Owner::new),
                        parseField(avro.get(Field.MOVED_SHARD), "change.shard", Shard::new));
            case "Described":
                return new Change.Described(attributes(avro.get(Field.DESCRIBED_ATTRIBUTES)));
            case "Merged":
                return new Change.Merged(parseField(avro.get(Field.MERGED_INTO), "change.into", Puri::parse));
            case "Deleted":
                return new Change.Deleted();
            case "Erased":
                return new Change.Erased();
            default:
                throw new IllegalStateException("unknown type of change: " + type);
        }
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

    /** The index of each field in its record. */
    private static final class Field {
        static final int EVENT_ID = index(IdentityEvent.getClassSchema(), "eventId");
        static final int PURI = index(IdentityEvent.getClassSchema(), "puri");
        static final int OCCURRED_AT = index(IdentityEvent.getClassSchema(), "occurredAt");
        static final int SOURCE = index(IdentityEvent.getClassSchema(), "source");
        static final int UUID = index(IdentityEvent.getClassSchema(), "uuid");
        static final int EXPECTED_EPOCH = index(IdentityEvent.getClassSchema(), "expectedEpoch");
        static final int CHANGE = index(IdentityEvent.getClassSchema(), "change");
        static final int CREATED_UUID = index(Created.getClassSchema(), "uuid");
        static final int CREATED_OWNER = index(Created.getClassSchema(), "owner");
        static final int CREATED_SHARD = index(Created.getClassSchema(), "shard");
        static final int CREATED_HANDLE = index(Created.getClassSchema(), "handle");
        static final int CREATED_ATTRIBUTES = index(Created.getClassSchema(), "attributes");
        static final int MOVED_OWNER = index(Moved.getClassSchema(), "owner");
        static final int MOVED_SHARD = index(Moved.getClassSchema(), "shard");
        static final int DESCRIBED_ATTRIBUTES = index(Described.getClassSchema(), "attributes");
        static final int MERGED_INTO = index(Merged.getClassSchema(), "into");

        private static int index(Schema schema, String field) {
            return schema.getField(field).pos();
        }
    }
}
