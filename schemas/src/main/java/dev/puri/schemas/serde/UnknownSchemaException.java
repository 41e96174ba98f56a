package dev.puri.schemas.serde;

import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;

/** Thrown if the schema registry responds that it does not have a schema. */
public final class UnknownSchemaException extends SerializationException {
    private static final long serialVersionUID = 1L;

    /**
     * @param message a message that contains the subject or the schema id, and the URL of the schema registry
     */
    public UnknownSchemaException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
