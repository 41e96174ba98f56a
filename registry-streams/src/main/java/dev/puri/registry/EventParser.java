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

/** Parses a record into an {@link Event}, or into the refusal of an invalid one. */
final class EventParser {
    /** The result of parsing. */
    sealed interface Result {}

    record Parsed(Event event) implements Result {}

    record Invalid(Refusal refusal) implements Result {}

    /** The schema registry has not returned the event's schema yet. */
    record SchemaPending() implements Result {}

    private static final SchemaPending SCHEMA_PENDING = new SchemaPending();

    private final SchemaLookup schemas;
    private final EventReader reader = new EventReader();

    EventParser(SchemaLookup schemas) {
        this.schemas = schemas;
    }

    /** Returns the pURI if the key is one in canonical form, else null. */
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

    /** Returns the pURI if the key is one in any form, else null. */
    static @Nullable Puri puriOf(byte @Nullable [] key) {
        try {
            return key == null ? null : Puri.parse(new String(key, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** Describes what is wrong with a key that is not a pURI in canonical form. */
    static String objectionToKey(byte @Nullable [] key) {
        if (key == null || key.length == 0) {
            return "the record has no key, or one of more than " + RawEvent.MAX_KEY_BYTES
                    + " bytes; an event's key is its pURI in canonical form";
        }
        String quoted = "the record's key " + TextCodec.quoted(key);
        Puri puri = puriOf(key);
        return puri == null
                ? quoted + " is no pURI; an event's key is its pURI in canonical form"
                : quoted + " is not the pURI in canonical form, which an event's key has to be: " + puri;
    }

    Result parse(Puri key, RawEvent raw) {
        if (raw.length() < 0) {
            return invalid(Reason.UNDECODABLE, "the record has no value; an event is never a tombstone");
        }
        if (!raw.isComplete()) {
            return invalid(
                    Reason.TOO_LARGE,
                    "the event has " + raw.length() + " bytes, at most " + RawEvent.MAX_BYTES + " are allowed");
        }
        try {
            int schemaId = WireFormat.schemaId(raw.head());
            return switch (schemas.schema(schemaId)) {
                case SchemaLookup.Known known -> check(key, reader.read(key, raw.head(), known.schema()));
                case SchemaLookup.Unknown ignored ->
                    // Not the registry's message, which contains its address.
                    invalid(Reason.UNDECODABLE, "the schema registry has no schema " + schemaId);
                case SchemaLookup.Pending ignored -> SCHEMA_PENDING;
            };
        } catch (SerializationException e) {
            return invalid(Reason.UNDECODABLE, String.valueOf(e.getMessage()));
        } catch (IllegalArgumentException e) {
            return invalid(Reason.MALFORMED, String.valueOf(e.getMessage()));
        }
    }

    private static Result check(Puri key, Event event) {
        if (!event.puri().equals(key)) {
            return invalid(
                    Reason.MALFORMED,
                    "the record's key is " + key + " and its pURI " + event.puri() + "; they must agree");
        }
        if (Topics.isMarker(key)) {
            return invalid(Reason.MALFORMED, key + " is reserved: the registry marks its partitions with it");
        }
        return new Parsed(event);
    }

    private static Invalid invalid(Reason reason, String detail) {
        return new Invalid(Refusal.of(reason, detail));
    }
}
