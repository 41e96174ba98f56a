package dev.puri.client.storage.jpa;

import dev.puri.client.storage.PuriColumns;
import dev.puri.schemas.identity.Puri;
import jakarta.persistence.Converter;

/** Any pURI as text, for all attributes that say nothing else. */
@Converter(autoApply = true)
public final class PuriConverter extends MappedConverter<Puri, String> {
    /** For the persistence provider. */
    public PuriConverter() {
        super(PuriColumns.anyAsText());
    }
}
