package dev.puri.schemas.serde;

import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;

/** Thrown if the schema registry responds that it has no such schema. */
public final class UnknownSchemaException extends SerializationException {
    private static final long serialVersionUID = 1L;

    /**
     * @param message names the subject or id and the registry's URL
     */
    public UnknownSchemaException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
