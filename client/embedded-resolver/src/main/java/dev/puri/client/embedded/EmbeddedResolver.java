package dev.puri.client.embedded;

import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverException;
import dev.puri.client.resolve.ResolverException.Kind;
import dev.puri.client.resolve.Verdict;
import dev.puri.projection.wait.EventStatus;
import dev.puri.projection.wait.Waiters;
import dev.puri.resolver.table.LookUp;
import dev.puri.resolver.table.Table;
import dev.puri.schemas.collection.Declarations;
import java.io.UncheckedIOException;
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
 * An {@link IdentityResolver} that holds the whole identity table in this process and keeps it current from Kafka.
 *
 * <pre>
 * Ref ─▶ malformed? ─▶ token? ─no─▶ LookUp in the current table ─▶ verdict
 *                        └─yes─▶ wait for its event ─▶ refused, or LookUp
 * </pre>
 *
 * <p>A look-up without a token runs in the calling thread, without I/O or locks. Until the table is complete, every
 * look-up fails with {@link Kind#UNAVAILABLE}. Afterwards look-ups succeed even while the brokers are unreachable;
 * {@link #progress} and {@link #age} tell whether rows may be stale.
 */
public final class EmbeddedResolver implements IdentityResolver {
    /** The interval at which {@link #awaitReady} checks whether the table is ready. */
    private static final long POLL_MILLIS = 20;

    /** The event status of a reference without a token. */
    private static final CompletableFuture<EventStatus> NO_TOKEN =
            CompletableFuture.completedFuture(EventStatus.Seen.INSTANCE);

    /** Null after {@link #close}, so that the memory of the table can be freed. */
    private volatile @Nullable LocalTable localTable;

    private EmbeddedResolver(LocalTable localTable) {
        this.localTable = localTable;
    }

    /**
     * Starts to fill the table, from the last snapshot if there is one, and returns immediately. A background thread
     * waits for brokers, topics and schema registry if they are not available yet.
     *
     * @throws IllegalStateException if Kafka's jars on the class path are older than 4.3, or another resolver uses the
     *     folder
     * @throws IllegalArgumentException if no Kafka client can be created from the properties, or the folder cannot be
     *     written. The message lists all mistakes
     * @throws UncheckedIOException if the folder cannot be locked
     */
    public static EmbeddedResolver open(EmbeddedResolverOptions options) {
        // Checked first, because with older classes any later step may fail with a confusing message.
        KafkaVersion.requireMinVersion();
        List<String> mistakes = Stream.of(
                        KafkaOptionsCheck.clientFailure(options.kafka()),
                        LockedFolder.createIfMissing(options.stateDir()))
                .flatMap(Stream::ofNullable)
                .toList();
        if (!mistakes.isEmpty()) {
            throw new IllegalArgumentException(
                    "the embedded resolver cannot be opened:\n  " + String.join("\n  ", mistakes));
        }
        return new EmbeddedResolver(new LocalTable(options));
    }

    /**
     * Returns whether the table is complete and its lag is small. If this is false, look-ups in a complete table still
     * succeed, but rows may be stale.
     */
    public boolean isReady() {
        LocalTable openTable = localTable;
        return openTable != null && openTable.progress().isReady();
    }

    /** Returns how far the table is filled. */
    public TableProgress progress() {
        LocalTable openTable = localTable;
        return openTable == null
                ? new TableProgress(false, null, null, "the resolver is closed", null, null)
                : openTable.progress();
    }

    /**
     * Returns the age of the table's rows: the time since the table was known to have all records of its topic. Null
     * before the table was complete.
     */
    public @Nullable Duration age() {
        LocalTable openTable = localTable;
        return openTable == null ? null : openTable.age();
    }

    /**
     * Blocks until the table is ready, see {@link #isReady}.
     *
     * @param atMost the maximum time to wait; zero or less to check once
     * @throws ResolverException if the table is not ready in time, with its progress; if the resolver is closed; or if
     *     the thread is interrupted
     */
    public void awaitReady(Duration atMost) {
        long startNanos = System.nanoTime();
        // Clamps a long wait, where toNanos would throw.
        long waitNanos = TimeUnit.NANOSECONDS.convert(atMost);
        while (!requireOpen().progress().isReady()) {
            if (System.nanoTime() - startNanos >= waitNanos) {
                throw new ResolverException(
                        Kind.DEADLINE,
                        "the table is not ready after " + TimeUnit.MILLISECONDS.convert(atMost) + " ms: " + progress());
            }
            try {
                Thread.sleep(POLL_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new ResolverException(Kind.INTERRUPTED, "interrupted while waiting until the table is ready", e);
            }
        }
    }

    @Override
    public Verdict resolve(Ref ref, Duration wait) {
        return mustAwaitEvent(Ref.requireRef(ref)) ? IdentityResolver.super.resolve(ref, wait) : find(ref);
    }

    @Override
    public List<Verdict> resolveAll(List<Ref> refs, Duration wait) {
        return Ref.requireRefs(refs).stream().anyMatch(EmbeddedResolver::mustAwaitEvent)
                ? IdentityResolver.super.resolveAll(refs, wait)
                : lookUpAll(refs, null);
    }

    @Override
    public CompletionStage<Verdict> resolveAsync(Ref ref, Duration wait) {
        return resolveWhenEventsAreSeen(List.of(Ref.requireRef(ref)), wait, verdicts -> verdicts.get(0));
    }

    @Override
    public CompletionStage<List<Verdict>> resolveAllAsync(List<Ref> refs, Duration wait) {
        return resolveWhenEventsAreSeen(Ref.requireRefs(refs), wait, verdicts -> verdicts);
    }

    private static boolean mustAwaitEvent(Ref ref) {
        return ref.token() != null && ref.flaw() == null;
    }

    private Verdict find(Ref ref) {
        String flaw = ref.flaw();
        if (flaw != null) {
            return new Verdict.Malformed(ref, flaw);
        }
        // Read before the look-up: if a collection is opened in between, its last identities are unknown, but marked.
        Declarations declarations = requireOpen().declarations();
        return Verdicts.of(ref, new LookUp(requireTable()), declarations);
    }

    /**
     * Looks up all references in the same table.
     *
     * @param statuses the completed event status of each reference; null if no reference has a token
     */
    private List<Verdict> lookUpAll(List<Ref> refs, @Nullable List<CompletableFuture<EventStatus>> statuses) {
        List<Verdict> verdicts = new ArrayList<>(refs.size());
        Declarations declarations = Declarations.none();
        LookUp lookUp = null;
        for (int i = 0; i < refs.size(); i++) {
            Ref ref = refs.get(i);
            String flaw = ref.flaw();
            // Null if the reference must be looked up.
            Verdict verdict = flaw != null
                    ? new Verdict.Malformed(ref, flaw)
                    : statuses == null
                            ? null
                            : Verdicts.withoutLookUp(ref, statuses.get(i).join());
            if (verdict == null) {
                if (lookUp == null) {
                    declarations = requireOpen().declarations();
                    lookUp = new LookUp(requireTable());
                }
                verdict = Verdicts.of(ref, lookUp, declarations);
            }
            verdicts.add(verdict);
        }
        return List.copyOf(verdicts);
    }

    private <T> CompletionStage<T> resolveWhenEventsAreSeen(
            List<Ref> refs, Duration wait, Function<List<Verdict>, T> toResult) {
        try {
            List<CompletableFuture<EventStatus>> statuses = statuses(refs, wait);
            CompletableFuture<Void> allStatuses = CompletableFuture.allOf(statuses.toArray(CompletableFuture[]::new));
            if (allStatuses.isDone()) {
                return CompletableFuture.completedStage(toResult.apply(lookUpAll(refs, statuses)));
            }
            CompletableFuture<T> result = new CompletableFuture<>();
            // On the common pool, because the thread that writes the table completes an event status.
            var unused = allStatuses.whenCompleteAsync((ignored, failure) -> {
                try {
                    requireOpen();
                    result.complete(toResult.apply(lookUpAll(refs, statuses)));
                } catch (RuntimeException | Error e) {
                    result.completeExceptionally(e);
                }
            });
            return result.minimalCompletionStage();
        } catch (RuntimeException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    /**
     * Starts to wait for the event of each reference. If too many references wait already, cancels the waits that this
     * call has started, and throws.
     */
    private List<CompletableFuture<EventStatus>> statuses(List<Ref> refs, Duration wait) {
        List<CompletableFuture<EventStatus>> statuses = new ArrayList<>(refs.size());
        try {
            for (Ref ref : refs) {
                if (mustAwaitEvent(ref)) {
                    requireTable();
                    statuses.add(requireOpen().awaitEvent(ref, wait));
                } else {
                    statuses.add(NO_TOKEN);
                }
            }
            return statuses;
        } catch (Waiters.TooManyException e) {
            statuses.stream().filter(status -> status != NO_TOKEN).forEach(status -> status.cancel(false));
            throw new ResolverException(
                    Kind.FULL,
                    e.getMessage() + "; the option maxPending limits the references that wait for events",
                    e);
        }
    }

    private LocalTable requireOpen() {
        LocalTable openTable = localTable;
        if (openTable == null) {
            throw new ResolverException(Kind.CLOSED, "the resolver is closed");
        }
        return openTable;
    }

    private Table requireTable() {
        LocalTable openTable = requireOpen();
        Table table = openTable.table();
        if (table == null) {
            throw new ResolverException(Kind.UNAVAILABLE, "the table is not complete yet: " + openTable.progress());
        }
        return table;
    }

    /**
     * Fails look-ups that wait for events, writes a last snapshot and ends all threads, within about 55 s. The garbage
     * collector frees the off-heap memory of the table after the last look-up.
     */
    @Override
    public void close() {
        LocalTable openTable;
        synchronized (this) {
            openTable = localTable;
            localTable = null;
        }
        if (openTable != null) {
            openTable.close();
        }
    }
}
