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

/** Parses the record of an event. The result is the {@link Event}, or the refusal of an invalid record. */
final class EventParser {
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

    /** Returns the pURI if the key is a pURI in canonical form, else null. */
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

    /** Returns the pURI if the key is a pURI in any form, else null. */
    static @Nullable Puri puriOf(byte @Nullable [] key) {
        try {
            return key == null ? null : Puri.parse(new String(key, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** Returns the reason why a key that is not a pURI in canonical form is refused. */
    static String objectionToKey(byte @Nullable [] key) {
        if (key == null || key.length == 0) {
            return "the record has no key, or a key of more than " + RawEvent.MAX_KEY_BYTES
                    + " bytes; the key of an event must be its pURI in canonical form";
        }
        String quoted = "the record's key " + TextCodec.quoted(key);
        Puri puri = puriOf(key);
        return puri == null
                ? quoted + " is not a pURI; the key of an event must be its pURI in canonical form"
                : quoted + " is not in canonical form; the key of this event must be " + puri;
    }

    Result parse(Puri key, RawEvent raw) {
        if (raw.valueLength() < 0) {
            return invalid(Reason.UNDECODABLE, "the record has no value; an event cannot be a tombstone");
        }
        if (!raw.hasCompleteValue()) {
            return invalid(
                    Reason.TOO_LARGE,
                    "the event has " + raw.valueLength() + " bytes; the maximum is " + RawEvent.MAX_BYTES);
        }
        try {
            int schemaId = WireFormat.schemaId(raw.valueHead());
            return switch (schemas.lookUp(schemaId)) {
                case SchemaLookup.Known known -> check(key, reader.read(key, raw.valueHead(), known.schema()));
                case SchemaLookup.Unknown ignored ->
                    // The message of the schema registry contains its address, so it is not passed on.
                    invalid(
                            Reason.UNDECODABLE,
                            "the schema registry has no Avro schema " + schemaId + " that can be read");
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
                    Reason.MALFORMED, "the record's key is " + key + ", but the event's pURI is " + event.puri());
        }
        if (Topics.isMarker(key)) {
            return invalid(Reason.MALFORMED, key + " is reserved for the registry's markers");
        }
        return new Parsed(event);
    }

    private static Invalid invalid(Reason reason, String detail) {
        return new Invalid(Refusal.of(reason, detail));
    }
}
