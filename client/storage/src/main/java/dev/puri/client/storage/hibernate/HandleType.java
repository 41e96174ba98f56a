package dev.puri.client.storage.hibernate;

import dev.puri.client.storage.HandleColumns;
import dev.puri.schemas.identity.Handle;

/** Stores any handle as text. */
public final class HandleType extends MappedType<Handle, String> {
    /** For Hibernate. */
    public HandleType() {
        super(HandleColumns.asText());
    }
}
