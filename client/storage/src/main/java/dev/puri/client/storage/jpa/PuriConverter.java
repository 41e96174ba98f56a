package dev.puri.client.storage.jpa;

import dev.puri.client.storage.PuriColumns;
import dev.puri.schemas.identity.Puri;
import jakarta.persistence.Converter;

/** Stores any pURI as text; applies to all attributes without another converter. */
@Converter(autoApply = true)
public final class PuriConverter extends MappedConverter<Puri, String> {
    /** For the persistence provider. */
    public PuriConverter() {
        super(PuriColumns.anyAsText());
    }
}
