package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventReader;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.WireFormat;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;

/** Where bytes become an {@link Event}, or the reason why they are none. */
final class EventEdge {
    /** What an arrival turned out to be. */
    sealed interface Reading {}

    record Read(Event event) implements Reading {}

    record Unreadable(Refusal refusal) implements Reading {}

    /** The registry has not said yet what this schema is. */
    record SchemaPending() implements Reading {}

    private static final SchemaPending SCHEMA_PENDING = new SchemaPending();

    private final SchemaLookup schemas;
    private final EventReader reader = new EventReader();

    EventEdge(SchemaLookup schemas) {
        this.schemas = schemas;
    }

    /** The pURI that a key is the canonical text of; null when it is none. */
    static @Nullable Puri canonicalKey(byte @Nullable [] key) {
        if (key == null || key.length > Puri.MAX_BYTES) {
            return null;
        }
        try {
            String text = new String(key, StandardCharsets.ISO_8859_1);
            Puri puri = Puri.parse(text);
            return puri.toString().equals(text) ? puri : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** The pURI that a key is a text of, canonical or not; null when it is none. */
    static @Nullable Puri puriOf(byte @Nullable [] key) {
        try {
            return key == null ? null : Puri.parse(new String(key, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** What is wrong with a key that is not a pURI in canonical form. */
    static String objectionToKey(byte @Nullable [] key) {
        if (key == null || key.length == 0) {
            return "the record has no key, or one of more than " + Arrival.MAX_KEY_BYTES
                    + " bytes; an event's key is its pURI in canonical form";
        }
        String quoted = "the record's key " + Texts.quoted(key);
        Puri puri = puriOf(key);
        return puri == null
                ? quoted + " is no pURI; an event's key is its pURI in canonical form"
                : quoted + " is not the pURI in canonical form, which an event's key has to be: " + puri;
    }

    Reading read(Puri key, Arrival arrival) {
        if (arrival.length() < 0) {
            return unreadable(Reason.UNDECODABLE, "the record has no value; an event is never a tombstone");
        }
        if (!arrival.isReadable()) {
            return unreadable(
                    Reason.TOO_LARGE,
                    "the event has " + arrival.length() + " bytes, at most " + Arrival.MAX_BYTES + " are allowed");
        }
        try {
            int schemaId = WireFormat.schemaId(arrival.head());
            return switch (schemas.schema(schemaId)) {
                case SchemaLookup.Known known -> check(key, reader.read(key, arrival.head(), known.schema()));
                case SchemaLookup.Unknown ignored ->
                    // Not in the registry's words, which name its address.
                    unreadable(Reason.UNDECODABLE, "the schema registry has no schema " + schemaId);
                case SchemaLookup.Pending ignored -> SCHEMA_PENDING;
            };
        } catch (SerializationException e) {
            return unreadable(Reason.UNDECODABLE, String.valueOf(e.getMessage()));
        } catch (IllegalArgumentException e) {
            return unreadable(Reason.MALFORMED, String.valueOf(e.getMessage()));
        }
    }

    private static Reading check(Puri key, Event event) {
        if (!event.puri().equals(key)) {
            return unreadable(
                    Reason.MALFORMED,
                    "the record's key is " + key + " and its pURI " + event.puri() + "; they must agree");
        }
        if (Topics.isMarker(key)) {
            return unreadable(Reason.MALFORMED, key + " is reserved: the registry marks its partitions with it");
        }
        return new Read(event);
    }

    private static Unreadable unreadable(Reason reason, String detail) {
        return new Unreadable(Refusal.of(reason, detail));
    }
}
