package dev.puri.client.resolve;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

/**
 * Looks up owner, shard and uuid of identities. Thread-safe; one for the whole service.
 *
 * <p>Every method fails with a {@link ResolverException} if there is no answer. The calling thread completes a stage whose answer is known at
 * once. Otherwise a shared thread does, such as one of the HTTP client, the common pool or a timer, so callbacks must not block.
 *
 * <p>A text that is neither a pURI nor a handle is answered with {@link Verdict.Malformed}, which says why. A null reference is a
 * {@link NullPointerException} at once, which names the parameter, and in a list the index.
 */
public interface IdentityResolver extends AutoCloseable {
    /**
     * Looks one reference up.
     *
     * @param wait how long to wait at most for the event of its token; zero or less for not at all. Ignored without a token
     */
    CompletionStage<Verdict> resolveAsync(Ref ref, Duration wait);

    /**
     * Looks up a list, pURIs and handles in any mix.
     *
     * @param wait how long to wait at most for the events of their tokens; zero or less for not at all. Ignored without tokens
     * @return a verdict for each reference, in the order asked
     */
    CompletionStage<List<Verdict>> resolveAllAsync(List<Ref> refs, Duration wait);

    /** Looks one reference up, and blocks until it is answered. */
    default Verdict resolve(Ref ref, Duration wait) {
        return answer(resolveAsync(ref, wait));
    }

    /** Looks one reference up without a wait, and blocks until it is answered. */
    default Verdict resolve(Ref ref) {
        return resolve(ref, Duration.ZERO);
    }

    /** Looks up a pURI or a handle in any casing without a wait, and blocks until it is answered. */
    default Verdict resolve(String ref) {
        return resolve(Ref.of(ref, "ref"), Duration.ZERO);
    }

    /** Looks up a list, and blocks until all references are answered. */
    default List<Verdict> resolveAll(List<Ref> refs, Duration wait) {
        return answer(resolveAllAsync(refs, wait));
    }

    /** Looks up a list without a wait, and blocks until all references are answered. */
    default List<Verdict> resolveAll(List<Ref> refs) {
        return resolveAll(refs, Duration.ZERO);
    }

    /** Fails pending look-ups and frees all threads. */
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
