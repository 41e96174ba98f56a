package dev.puri.schemas.serde;

import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;

/** The schema registry could not be reached, or failed, within the bound of retries. Trying later may help. */
public final class RegistryUnavailableException extends SerializationException {
    private static final long serialVersionUID = 1L;

    /**
     * @param message names the subject or id and the registry's URL
     */
    public RegistryUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
