package dev.puri.schemas.serde;

import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;

/** Thrown if the schema registry is unreachable or fails after all retries. A later attempt may succeed. */
public final class SchemaRegistryUnavailableException extends SerializationException {
    private static final long serialVersionUID = 1L;

    /**
     * @param message a message that contains the subject or the schema id, and the URL of the schema registry
     */
    public SchemaRegistryUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
