package dev.puri.tail;

import dev.puri.schemas.serde.RegistryUnavailableException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Repeats the decoding of a record until the schema registry answers: a record that is skipped while the registry is
 * away would be missing for good. One thread reads; any thread may ask why it waits.
 */
public final class SchemaRegistryWait {
    private final RetryPolicy policy;
    private final Stop stop;
    private volatile @Nullable String waitingFor;

    /**
     * @param policy the delays between attempts
     * @param stop ends a wait
     */
    public SchemaRegistryWait(RetryPolicy policy, Stop stop) {
        this.policy = policy;
        this.stop = stop;
    }

    /** What the schema registry answered when it was last asked in vain; null while nothing waits for it. */
    public @Nullable String waitingFor() {
        return waitingFor;
    }

    /**
     * Reads, as often as it takes.
     *
     * @param read decodes a record; throws {@link RegistryUnavailableException} to be called again
     * @param onWait called once, before the first delay
     * @throws StoppedException when the stop was asked for, or the thread interrupted, meanwhile
     */
    public <T> T read(Supplier<T> read, Consumer<RegistryUnavailableException> onWait) {
        Backoff backoff = new Backoff(policy);
        try {
            while (true) {
                try {
                    return read.get();
                } catch (RegistryUnavailableException e) {
                    if (waitingFor == null) {
                        onWait.accept(e);
                    }
                    waitingFor = String.valueOf(e.getMessage());
                    if (stop.isAskedWithin(backoff.nextDelay())) {
                        throw new StoppedException("stopped while waiting for the schema registry");
                    }
                }
            }
        } finally {
            waitingFor = null;
        }
    }
}
