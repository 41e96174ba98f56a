package dev.puri.cli;

import dev.puri.projection.RecordKey;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventReader;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import dev.puri.schemas.serde.WireFormat;
import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;

/**
 * Decodes the records of refused events with the rules of the registry. A record that was undecodable when it was
 * refused may be decodable now, because the schema registry was repaired meanwhile.
 */
final class OriginalDecoder implements AutoCloseable {
    sealed interface Result {}

    record Decoded(Event event) implements Result {}

    /**
     * The record is not a valid event.
     *
     * @param why the reason as a message for the user
     */
    record Invalid(String why) implements Result {}

    private final SchemaRegistry schemas;
    private final EventReader reader = new EventReader();

    OriginalDecoder(SchemaRegistry schemas) {
        this.schemas = schemas;
    }

    static OriginalDecoder of(CliSettings settings) {
        return new OriginalDecoder(ConfluentSchemaRegistry.create(settings.interactiveProperties()));
    }

    /**
     * Decodes a record.
     *
     * @throws SchemaRegistryUnavailableException if the schema registry is unreachable
     */
    Result decode(byte @Nullable [] key, byte @Nullable [] value) {
        if (value == null) {
            return new Invalid("the record has no value");
        }
        try {
            Puri puri = RecordKey.puri(key);
            Event event = reader.read(puri, value, schemas.byId(WireFormat.schemaId(value)));
            if (!event.puri().equals(puri)) {
                return new Invalid("the record's key is " + puri + ", but the event's pURI is " + event.puri());
            }
            return Topics.isMarker(puri)
                    ? new Invalid(puri + " is reserved for the registry's markers")
                    : new Decoded(event);
        } catch (SchemaRegistryUnavailableException e) {
            throw e;
        } catch (SerializationException | IllegalArgumentException e) {
            return new Invalid(String.valueOf(e.getMessage()));
        }
    }

    @Override
    public void close() {
        schemas.close();
    }
}
