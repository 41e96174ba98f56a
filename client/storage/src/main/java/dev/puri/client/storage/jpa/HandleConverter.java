package dev.puri.client.storage.jpa;

import dev.puri.client.storage.HandleColumns;
import dev.puri.schemas.identity.Handle;
import jakarta.persistence.Converter;

/** Stores any handle as text; applies to all attributes without another converter. */
@Converter(autoApply = true)
public final class HandleConverter extends MappedConverter<Handle, String> {
    /** For the persistence provider. */
    public HandleConverter() {
        super(HandleColumns.asText());
    }
}
