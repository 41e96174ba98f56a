package dev.puri.client.storage.jpa;

import dev.puri.client.storage.HandleColumns;
import dev.puri.schemas.identity.Handle;
import jakarta.persistence.Converter;

/** Any handle as text, for all attributes that say nothing else. */
@Converter(autoApply = true)
public final class HandleConverter extends MappedConverter<Handle, String> {
    /** For the persistence provider. */
    public HandleConverter() {
        super(HandleColumns.asText());
    }
}
