package dev.puri.client.storage.hibernate;

import dev.puri.client.storage.PuriColumns;
import dev.puri.schemas.identity.Puri;

/** Stores any pURI as text. */
public final class PuriType extends MappedType<Puri, String> {
    /** For Hibernate. */
    public PuriType() {
        super(PuriColumns.anyAsText());
    }
}
