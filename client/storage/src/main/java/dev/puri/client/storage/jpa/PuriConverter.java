package dev.puri.client.storage.jpa;

import dev.puri.client.storage.PuriColumns;
import dev.puri.schemas.identity.Puri;
import jakarta.persistence.Converter;

/** Stores any pURI as text. Applies to all attributes of type Puri that have no other converter. */
@Converter(autoApply = true)
public final class PuriConverter extends MappedConverter<Puri, String> {
    /** Called by the persistence provider. */
    public PuriConverter() {
        super(PuriColumns.anyAsText());
    }
}
