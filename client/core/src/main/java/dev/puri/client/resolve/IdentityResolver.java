package dev.puri.client.resolve;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/**
 * Looks up owner, shard and uuid of identities. Thread-safe. A service needs only one instance.
 *
 * <p>Every method fails with a {@link ResolverException} if there is no answer. If the answer is known at once, the
 * calling thread completes the stage. Otherwise a shared thread completes the stage, such as one of the HTTP client,
 * the common pool or a timer, so callbacks must not block.
 *
 * <p>The verdict on a text that is neither a pURI nor a handle is {@link Verdict.Malformed}, which says why. A method
 * throws a {@link NullPointerException} if a reference is null. Its message names the parameter and, in a list, the
 * index.
 */
public interface IdentityResolver extends AutoCloseable {
    /**
     * Looks up one reference.
     *
     * @param wait maximum time to wait for the event of the reference's token; no wait if zero or negative. Ignored
     *     without a token
     */
    CompletionStage<Verdict> resolveAsync(Ref ref, Duration wait);

    /**
     * Looks up a list, which may contain pURIs and handles.
     *
     * @param wait maximum time to wait for the events of the references' tokens; no wait if zero or negative. Ignored
     *     without tokens
     * @return a verdict for each reference, in the order of the references
     */
    CompletionStage<List<Verdict>> resolveAllAsync(List<Ref> refs, Duration wait);

    /** Looks up one reference, and blocks until the answer has arrived. */
    default Verdict resolve(Ref ref, Duration wait) {
        return join(resolveAsync(ref, wait));
    }

    /** Looks up one reference without waiting for an event, and blocks until the answer has arrived. */
    default Verdict resolve(Ref ref) {
        return resolve(ref, Duration.ZERO);
    }

    /**
     * Looks up a pURI or a handle, in upper or lower case, without waiting for an event. Blocks until the answer has
     * arrived.
     */
    default Verdict resolve(String ref) {
        return resolve(Ref.of(ref, "ref"), Duration.ZERO);
    }

    /** Looks up a list, and blocks until all answers have arrived. */
    default List<Verdict> resolveAll(List<Ref> refs, Duration wait) {
        return join(resolveAllAsync(refs, wait));
    }

    /** Looks up a list without waiting for events, and blocks until all answers have arrived. */
    default List<Verdict> resolveAll(List<Ref> refs) {
        return resolveAll(refs, Duration.ZERO);
    }

    /** Fails pending look-ups and frees all threads. */
    @Override
    void close();

    private static <T> T join(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ResolverException(
                    ResolverException.Kind.INTERRUPTED, "interrupted while waiting for a resolver", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ResolverException cause) {
                // The cause was thrown on another thread; the new exception has the caller's stack trace.
                throw new ResolverException(cause.kind(), String.valueOf(cause.getMessage()), cause);
            }
            throw new CompletionException(e.getCause());
        }
    }
}
