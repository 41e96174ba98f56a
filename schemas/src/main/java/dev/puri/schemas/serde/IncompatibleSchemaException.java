package dev.puri.schemas.serde;

import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the schema registry refuses a request with the status 409 or 422, usually because a schema is incompatible
 * with the other schemas of its subject. Also thrown if a record does not fit the latest schema of its subject.
 */
public final class IncompatibleSchemaException extends SerializationException {
    private static final long serialVersionUID = 1L;

    /**
     * @param message a message that contains the subject or the schema id, and the URL of the schema registry
     */
    public IncompatibleSchemaException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
