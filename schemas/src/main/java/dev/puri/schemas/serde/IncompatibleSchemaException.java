package dev.puri.schemas.serde;

import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;

/** Thrown if a schema is incompatible with the subject's other schemas. */
public final class IncompatibleSchemaException extends SerializationException {
    private static final long serialVersionUID = 1L;

    /**
     * @param message names the subject or id and the registry's URL
     */
    public IncompatibleSchemaException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
