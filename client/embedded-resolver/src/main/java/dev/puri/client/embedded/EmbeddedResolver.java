package dev.puri.client.embedded;

import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverException;
import dev.puri.client.resolve.ResolverException.Kind;
import dev.puri.client.resolve.Verdict;
import dev.puri.resolver.table.LookUp;
import dev.puri.resolver.table.Table;
import dev.puri.tail.wait.EventStatus;
import dev.puri.tail.wait.Waiters;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Resolves from the complete identity table, which it holds in this process and keeps current from Kafka.
 *
 * <pre>
 * Ref ─▶ malformed? ─▶ token? ─no─▶ LookUp in the current table ─▶ verdict
 *                        └─yes─▶ wait for its event ─▶ refused, or LookUp
 * </pre>
 *
 * <p>A look-up without a token does no I/O, takes no lock and is answered by the calling thread. Until the table is complete every look-up
 * fails with {@link Kind#UNAVAILABLE}. Afterwards all are answered, also while the brokers are unreachable: {@link #progress} and
 * {@link #age} say whether answers may be old.
 */
public final class EmbeddedResolver implements IdentityResolver {
    /** Readiness is polled, because no event reports it: it depends on the topic's end offsets, which another thread reads periodically. */
    private static final long POLL_MILLIS = 20;

    /** The sight of a reference without a token. */
    private static final CompletableFuture<EventStatus> NO_TOKEN =
            CompletableFuture.completedFuture(EventStatus.Seen.INSTANCE);

    /** Null once closed, so that the table's memory can be freed. */
    private volatile @Nullable LocalTable running;

    private EmbeddedResolver(LocalTable running) {
        this.running = running;
    }

    /**
     * Starts to fill a table, from the last snapshot if there is one, and returns at once. It waits in the background for brokers, topics
     * and schema registry.
     *
     * @throws IllegalStateException if Kafka's jars on the class path are older than 4.3, or another resolver uses the folder
     * @throws IllegalArgumentException if no Kafka client can be made of the properties, or the folder cannot be written; all
     *     mistakes are listed
     */
    public static EmbeddedResolver open(EmbeddedResolverOptions options) {
        // First, because with older classes anything may fail, with a message that does not help.
        KafkaVersion.requireNew();
        List<String> mistakes = Stream.of(
                        KafkaOptions.failure(options.kafka()), StateDirectory.flaw(options.stateDir()))
                .flatMap(Stream::ofNullable)
                .toList();
        if (!mistakes.isEmpty()) {
            throw new IllegalArgumentException(
                    "an embedded resolver cannot be opened:\n  " + String.join("\n  ", mistakes));
        }
        return new EmbeddedResolver(new LocalTable(options));
    }

    /** Whether the table is complete, fed and close to the end of its topic. A complete table answers also when this is false. */
    public boolean isReady() {
        LocalTable local = running;
        return local != null && local.progress().isReady();
    }

    /** How far the table is filled. */
    public TableProgress progress() {
        LocalTable local = running;
        return local == null ? new TableProgress(false, null, null, "the resolver is closed", null) : local.progress();
    }

    /** Time since the table was last known to have all of its topic; null before it was complete. */
    public @Nullable Duration age() {
        LocalTable local = running;
        return local == null ? null : local.age();
    }

    /**
     * Blocks until the table is complete, fed and close to the end of its topic.
     *
     * @param atMost how long to wait; zero or less to check once
     * @throws ResolverException if it is not ready by then, with its progress; if the resolver is closed; or if the thread is
     *     interrupted
     */
    public void awaitReady(Duration atMost) {
        long begun = System.nanoTime();
        // Converted so that a wait of any length is clamped.
        long wait = TimeUnit.NANOSECONDS.convert(atMost);
        while (!requireOpen().progress().isReady()) {
            if (System.nanoTime() - begun >= wait) {
                throw new ResolverException(
                        Kind.DEADLINE,
                        "the table is not ready after " + TimeUnit.MILLISECONDS.convert(atMost) + " ms: " + progress());
            }
            try {
                Thread.sleep(POLL_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new ResolverException(Kind.INTERRUPTED, "interrupted while the table was being filled", e);
            }
        }
    }

    @Override
    public Verdict resolve(Ref ref, Duration wait) {
        return hasToken(Ref.requireRef(ref)) ? IdentityResolver.super.resolve(ref, wait) : find(ref);
    }

    @Override
    public List<Verdict> resolveAll(List<Ref> refs, Duration wait) {
        return Ref.requireRefs(refs).stream().anyMatch(EmbeddedResolver::hasToken)
                ? IdentityResolver.super.resolveAll(refs, wait)
                : answer(refs, null);
    }

    @Override
    public CompletionStage<Verdict> resolveAsync(Ref ref, Duration wait) {
        return when(List.of(Ref.requireRef(ref)), wait, verdicts -> verdicts.get(0));
    }

    @Override
    public CompletionStage<List<Verdict>> resolveAllAsync(List<Ref> refs, Duration wait) {
        return when(Ref.requireRefs(refs), wait, verdicts -> verdicts);
    }

    private static boolean hasToken(Ref ref) {
        return ref.at() != null && ref.flaw() == null;
    }

    private Verdict find(Ref ref) {
        String flaw = ref.flaw();
        return flaw == null ? Verdicts.of(ref, new LookUp(table())) : new Verdict.Malformed(ref, flaw);
    }

    /**
     * Answers all references from one table.
     *
     * @param sights results of the waits for each reference's event; null if no reference has a token
     */
    private List<Verdict> answer(List<Ref> refs, @Nullable List<CompletableFuture<EventStatus>> sights) {
        List<Verdict> verdicts = new ArrayList<>(refs.size());
        LookUp lookUp = null;
        for (int i = 0; i < refs.size(); i++) {
            Ref ref = refs.get(i);
            String flaw = ref.flaw();
            Verdict known = flaw != null
                    ? new Verdict.Malformed(ref, flaw)
                    : sights == null ? null : Verdicts.of(ref, sights.get(i).join());
            if (known == null) {
                lookUp = lookUp == null ? new LookUp(table()) : lookUp;
                known = Verdicts.of(ref, lookUp);
            }
            verdicts.add(known);
        }
        return List.copyOf(verdicts);
    }

    private <T> CompletionStage<T> when(List<Ref> refs, Duration wait, Function<List<Verdict>, T> shape) {
        try {
            List<CompletableFuture<EventStatus>> sights = sights(refs, wait);
            CompletableFuture<Void> all = CompletableFuture.allOf(sights.toArray(CompletableFuture[]::new));
            if (all.isDone()) {
                return CompletableFuture.completedStage(shape.apply(answer(refs, sights)));
            }
            CompletableFuture<T> result = new CompletableFuture<>();
            // On the common pool, because the thread that completes a sight is the one that writes the table.
            var unused = all.whenCompleteAsync((seen, failure) -> {
                try {
                    requireOpen();
                    result.complete(shape.apply(answer(refs, sights)));
                } catch (RuntimeException | Error e) {
                    result.completeExceptionally(e);
                }
            });
            return result.minimalCompletionStage();
        } catch (RuntimeException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    /** Waits for each reference's event; if one may not wait, none does. */
    private List<CompletableFuture<EventStatus>> sights(List<Ref> refs, Duration wait) {
        List<CompletableFuture<EventStatus>> sights = new ArrayList<>(refs.size());
        try {
            for (Ref ref : refs) {
                if (hasToken(ref)) {
                    table();
                    sights.add(requireOpen().sight(ref, wait));
                } else {
                    sights.add(NO_TOKEN);
                }
            }
            return sights;
        } catch (Waiters.TooManyException e) {
            sights.stream().filter(sight -> sight != NO_TOKEN).forEach(sight -> sight.cancel(false));
            throw new ResolverException(
                    Kind.FULL, e.getMessage() + "; no more references may wait for events (maxPending)", e);
        }
    }

    private LocalTable requireOpen() {
        LocalTable local = running;
        if (local == null) {
            throw new ResolverException(Kind.CLOSED, "the resolver is closed");
        }
        return local;
    }

    private Table table() {
        LocalTable local = requireOpen();
        Table table = local.table();
        if (table == null) {
            throw new ResolverException(
                    Kind.UNAVAILABLE, "nothing is answered before the table is complete: " + local.progress());
        }
        return table;
    }

    /**
     * Fails look-ups that wait for events, writes a last snapshot and frees all threads, within about 45 s. The garbage collector frees
     * the table's memory outside the heap when no look-up reads it any more.
     */
    @Override
    public void close() {
        LocalTable local;
        synchronized (this) {
            local = running;
            running = null;
        }
        if (local != null) {
            local.close();
        }
    }
}
