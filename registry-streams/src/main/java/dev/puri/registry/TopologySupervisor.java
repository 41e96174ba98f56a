package dev.puri.registry;

import dev.puri.projection.FailureState;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.Stop;
import dev.puri.projection.SupervisedThread;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.streams.KafkaStreams;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts the topology as soon as its dependencies are available, and holds its state:
 *
 * <pre>
 *   Starting ── start ──▶ Started ──┐
 *      │                     │      ├── stop ──▶ Stopped
 *      └──────── fail ───────┴─▶ Failed
 *
 *   waitFor: Starting and Started get another reason to wait
 * </pre>
 *
 * A {@link KafkaException} of the preparation means that a dependency is missing, so the preparation is repeated. All
 * other failures are final. Thread-safe.
 */
final class TopologySupervisor {
    static final String RESTORE = "the assignment of tasks and the restore of their state stores";

    private static final Logger LOG = LoggerFactory.getLogger(TopologySupervisor.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);

    private final Supplier<Supplier<Instance>> preparation;
    private final Duration retryDelay;
    private final Consumer<Throwable> onFailure;
    private final Stop stop = new Stop();
    private final SupervisedThread starter;

    /** The last reason for a retry, for the log. */
    private final FailureState retryReason = new FailureState();

    /** Whether the starter prepares, so that a stop interrupts it. Guarded by this. */
    private boolean isPreparing = true;

    private volatile State state = new Starting("the broker and its topics");

    /**
     * An instance of {@link KafkaStreams}.
     *
     * @param start may wait until the declarations are restored
     * @param close commits and stops the instance; false if it did not stop within the time
     */
    record Instance(Runnable start, Supplier<KafkaStreams.State> streamsState, Predicate<Duration> close) {
        KafkaStreams.State state() {
            return streamsState.get();
        }
    }

    sealed interface State {
        /** The topology; null if it was not created. */
        @Nullable
        Instance instance();
    }

    /**
     * The preparation is repeated until it succeeds.
     *
     * @param waitingFor the missing dependency, or why the last attempt failed
     */
    record Starting(String waitingFor) implements State {
        @Override
        public @Nullable Instance instance() {
            return null;
        }
    }

    /**
     * The topology was created. It is started once.
     *
     * @param waitingFor what a restore waits for; meaningful until the instance is running
     */
    record Started(Instance instance, String waitingFor) implements State {}

    /** The topology could not start, or it failed later. It is not started again. */
    record Failed(@Nullable Instance instance, Throwable cause) implements State {}

    /** {@link #requestStop} was called. */
    record Stopped(@Nullable Instance instance) implements State {}

    /**
     * Creates the supervisor; {@link #start} starts it.
     *
     * @param preparation checks the dependencies and returns how to create the topology; throws {@link KafkaException}
     *     if a dependency is missing
     * @param retryDelay the delay between attempts
     * @param onFailure called with the cause of {@link Failed}
     */
    TopologySupervisor(Supplier<Supplier<Instance>> preparation, Duration retryDelay, Consumer<Throwable> onFailure) {
        this.preparation = preparation;
        this.retryDelay = retryDelay;
        this.onFailure = onFailure;
        this.starter = new SupervisedThread(
                "registry-streams-start", stop, RetryPolicy.fixed(retryDelay), this::attempt, cause -> {
                    fail(cause);
                    LOG.error("The topology cannot start", cause);
                });
    }

    void start() {
        starter.start();
    }

    State state() {
        return state;
    }

    boolean isStopRequested() {
        return stop.isRequested();
    }

    /** One attempt to start. When the topology is started, only the stop ends the thread. */
    private void attempt() {
        if (!(state instanceof Starting)) {
            stop.awaitRequest(Duration.ofDays(1));
            return;
        }
        Supplier<Instance> creation;
        try {
            creation = preparation.get();
        } catch (KafkaException e) {
            noteRetry(e);
            return;
        }
        if (!endPreparation()) {
            return;
        }
        Instance created = creation.get();
        if (enterStarted(created)) {
            created.start().run();
        } else {
            close(created);
        }
    }

    /** From now on a stop does not interrupt the starter. Returns false if the stop was requested before. */
    private synchronized boolean endPreparation() {
        isPreparing = false;
        return !stop.isRequested();
    }

    private synchronized boolean enterStarted(Instance instance) {
        if (state instanceof Starting) {
            state = new Started(instance, RESTORE);
        }
        return state instanceof Started;
    }

    /** Changes what the start or a restore waits for. */
    synchronized void waitFor(String reason) {
        if (state instanceof Starting) {
            state = new Starting(reason);
        } else if (state instanceof Started started) {
            state = new Started(started.instance(), reason);
        }
    }

    /** Notes that the topology failed. It is not started again. */
    void fail(Throwable cause) {
        synchronized (this) {
            if (!(state instanceof Failed || state instanceof Stopped)) {
                state = new Failed(state.instance(), cause);
            }
        }
        stop.request();
        onFailure.accept(cause);
    }

    /**
     * Runs a check before the restore of a store, on a thread of Kafka Streams. Repeats it while no broker answers.
     * Returns null if the topology failed or was stopped first; then no store may be used.
     */
    <T> @Nullable T awaitRestore(Supplier<T> check) {
        while (!stop.isRequested()) {
            try {
                T result = check.get();
                waitFor(RESTORE);
                retryReason.clear();
                return result;
            } catch (KafkaException e) {
                noteRetry(e);
                stop.awaitRequest(retryDelay);
            }
        }
        return null;
    }

    private void noteRetry(KafkaException cause) {
        // The exception of a Kafka client may say only that the client was not created.
        Throwable root = TopologyFailedException.rootOf(cause);
        String reason =
                root == cause ? String.valueOf(cause.getMessage()) : cause.getMessage() + ": " + root.getMessage();
        if (retryReason.changeTo(reason) && !stop.isRequested()) {
            LOG.info("Retrying until this is resolved: {}", reason);
        }
        waitFor(reason);
    }

    /** Ends the start and its retries. Returns false if this method was called before. */
    synchronized boolean requestStop() {
        if (state instanceof Stopped) {
            return false;
        }
        state = new Stopped(state.instance());
        stop.request();
        if (isPreparing) {
            starter.interrupt();
        }
        return true;
    }

    /** Commits and stops the topology, after {@link #requestStop}. */
    void awaitStop() {
        starter.join(CLOSE_TIMEOUT);
        Instance instance = state.instance();
        if (instance != null) {
            close(instance);
        }
    }

    private static void close(Instance instance) {
        if (!instance.close().test(CLOSE_TIMEOUT)) {
            LOG.warn("The topology did not stop within {} s", CLOSE_TIMEOUT.toSeconds());
        }
    }
}
