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
 * Answers from the whole identity table, which it holds in this process and keeps current from Kafka.
 *
 * <pre>
 * Ref ─▶ malformed? ─▶ token? ─no─▶ LookUp in the table of now ─▶ verdict
 *                        └─yes─▶ wait for its event ─▶ refused, or LookUp
 * </pre>
 *
 * <p>A look-up without a token does no I/O, takes no lock and is answered by the calling thread. Before a table was complete
 * every look-up fails with {@link Kind#UNAVAILABLE}; afterwards all are answered, also while the brokers are out of reach:
 * {@link #progress} and {@link #age} say whether answers may be old.
 */
public final class EmbeddedResolver implements IdentityResolver {
    /** Readiness is polled: it depends on the topic's end, which another thread reads now and then, and on no event. */
    private static final long LOOK_MILLIS = 20;

    /** What a reference has that asks for no event. */
    private static final CompletableFuture<EventStatus> NOTHING_ASKED =
            CompletableFuture.completedFuture(EventStatus.Seen.INSTANCE);

    /** Null once closed, so that the table's memory is let go. */
    private volatile @Nullable LocalTable running;

    private EmbeddedResolver(LocalTable running) {
        this.running = running;
    }

    /**
     * Begins to fill a table, from the last snapshot if there is one, and returns at once. Brokers, topics and schema registry need
     * not be there yet: they are waited for.
     *
     * @throws IllegalStateException when Kafka's jars on the class path are older than 4.3, or another resolver uses the folder
     * @throws IllegalArgumentException that lists all of: the Kafka properties make no clients; nothing can be kept in the folder
     */
    public static EmbeddedResolver open(EmbeddedResolverOptions options) {
        // First: with older classes anything may fail, and with another message.
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

    /** Whether the table is complete, fed and close to the end of its topic. Look-ups may be answered also when it is not. */
    public boolean isReady() {
        LocalTable local = running;
        return local != null && local.progress().isReady();
    }

    /** How far the table is. */
    public TableProgress progress() {
        LocalTable local = running;
        return local == null ? new TableProgress(false, null, null, "the resolver is closed", null) : local.progress();
    }

    /** Since when it is not known that the table has all that its topic has; null before it was complete. */
    public @Nullable Duration age() {
        LocalTable local = running;
        return local == null ? null : local.age();
    }

    /**
     * Blocks until the table is complete, fed and close to the end of its topic.
     *
     * @param atMost how long; zero or less to look once
     * @throws ResolverException when it is not by then, and says how far it is; when the resolver is closed; or when the thread is
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
                Thread.sleep(LOOK_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new ResolverException(Kind.INTERRUPTED, "interrupted while the table was being filled", e);
            }
        }
    }

    @Override
    public Verdict resolve(Ref ref, Duration wait) {
        return asksForEvent(ref) ? IdentityResolver.super.resolve(ref, wait) : find(ref);
    }

    @Override
    public List<Verdict> resolveAll(List<Ref> refs, Duration wait) {
        return refs.stream().anyMatch(EmbeddedResolver::asksForEvent)
                ? IdentityResolver.super.resolveAll(refs, wait)
                : answer(refs, null);
    }

    @Override
    public CompletionStage<Verdict> resolveAsync(Ref ref, Duration wait) {
        return when(List.of(ref), wait, verdicts -> verdicts.get(0));
    }

    @Override
    public CompletionStage<List<Verdict>> resolveAllAsync(List<Ref> refs, Duration wait) {
        return when(refs, wait, verdicts -> verdicts);
    }

    private static boolean asksForEvent(Ref ref) {
        return ref.at() != null && ref.flaw() == null;
    }

    private Verdict find(Ref ref) {
        String flaw = ref.flaw();
        return flaw == null ? Verdicts.of(ref, new LookUp(table())) : new Verdict.Malformed(ref, flaw);
    }

    /**
     * Answers all from one table.
     *
     * @param sights what became of each reference's event; null when none asks for one
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
            // On a thread of the common pool: what completes a sight is the thread that writes the table.
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

    /** What becomes of each reference's event; all or none of them wait. */
    private List<CompletableFuture<EventStatus>> sights(List<Ref> refs, Duration wait) {
        List<CompletableFuture<EventStatus>> sights = new ArrayList<>(refs.size());
        try {
            for (Ref ref : refs) {
                if (asksForEvent(ref)) {
                    table();
                    sights.add(requireOpen().sight(ref, wait));
                } else {
                    sights.add(NOTHING_ASKED);
                }
            }
            return sights;
        } catch (Waiters.TooManyException e) {
            sights.stream().filter(sight -> sight != NOTHING_ASKED).forEach(sight -> sight.cancel(false));
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
     * Fails what waits for events, writes the last snapshot and frees all threads, within about 45 s. The table's memory outside the
     * heap is given back when the collector finds that no look-up reads it.
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
