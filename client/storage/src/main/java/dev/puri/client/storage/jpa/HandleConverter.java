package dev.puri.client.storage.jpa;

import dev.puri.client.storage.HandleColumns;
import dev.puri.schemas.identity.Handle;
import jakarta.persistence.Converter;

/** Stores any handle as text. Applies to all attributes of type Handle that have no other converter. */
@Converter(autoApply = true)
public final class HandleConverter extends MappedConverter<Handle, String> {
    /** Called by the persistence provider. */
    public HandleConverter() {
        super(HandleColumns.asText());
    }
}
