package dev.puri.projection;

import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decodes a record, and tries again until the schema registry responds. A record that was skipped while the registry
 * was unavailable would be lost. One thread calls {@link #read}; any thread may call {@link #lastError}.
 */
public final class SchemaRegistryWait {
    private final RetryPolicy policy;
    private final Stop stop;
    private volatile @Nullable String lastError;

    /**
     * @param policy the delays between attempts
     * @param stop ends the wait
     */
    public SchemaRegistryWait(RetryPolicy policy, Stop stop) {
        this.policy = policy;
        this.stop = stop;
    }

    /**
     * Returns the error of the last failed request to the schema registry; null while no record waits for the registry.
     */
    public @Nullable String lastError() {
        return lastError;
    }

    /**
     * Calls {@code decode} until it succeeds.
     *
     * @param decode decodes a record; called again after it throws {@link SchemaRegistryUnavailableException}
     * @param onWait called once, before the first delay
     * @throws StoppedException if the stop is requested or the thread is interrupted during the wait
     */
    public <T> T read(Supplier<T> decode, Consumer<SchemaRegistryUnavailableException> onWait) {
        Backoff backoff = new Backoff(policy);
        try {
            while (true) {
                try {
                    return decode.get();
                } catch (SchemaRegistryUnavailableException e) {
                    if (lastError == null) {
                        onWait.accept(e);
                    }
                    lastError = String.valueOf(e.getMessage());
                    if (stop.awaitRequest(backoff.takeDelay())) {
                        throw new StoppedException("stopped while waiting for the schema registry");
                    }
                }
            }
        } finally {
            lastError = null;
        }
    }
}
