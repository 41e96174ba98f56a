package dev.puri.client.resolve;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/**
 * Tells where identities are. Thread-safe; one for the whole service.
 *
 * <p>Every form ends in a {@link ResolverException} when there is no answer. Stages are
 * completed by the caller when the answer is known at once, else by threads that others share, such as those of the HTTP client,
 * of the common pool and of timers, which must not be blocked.
 */
public interface IdentityResolver extends AutoCloseable {
    /**
     * Looks one reference up.
     *
     * @param wait how long to wait at most for the event of its token; zero, or no token, for not at all
     */
    CompletionStage<Verdict> resolveAsync(Ref ref, Duration wait);

    /**
     * Looks up many, pURIs and handles in any mix.
     *
     * @param wait how long to wait at most for the events of their tokens; zero, or no tokens, for not at all
     * @return a verdict for each, in the order asked
     */
    CompletionStage<List<Verdict>> resolveAllAsync(List<Ref> refs, Duration wait);

    /** Looks one reference up, and blocks until it is answered. */
    default Verdict resolve(Ref ref, Duration wait) {
        return answer(resolveAsync(ref, wait));
    }

    /** The same without a wait. */
    default Verdict resolve(Ref ref) {
        return resolve(ref, Duration.ZERO);
    }

    /** The same of a text in any form. */
    default Verdict resolve(String ref) {
        return resolve(Ref.of(ref), Duration.ZERO);
    }

    /** Looks up many, and blocks until all are answered. */
    default List<Verdict> resolveAll(List<Ref> refs, Duration wait) {
        return answer(resolveAllAsync(refs, wait));
    }

    /** The same without a wait. */
    default List<Verdict> resolveAll(List<Ref> refs) {
        return resolveAll(refs, Duration.ZERO);
    }

    /** Fails what is pending and frees all threads. */
    @Override
    void close();

    private static <T> T answer(CompletionStage<T> stage) {
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
