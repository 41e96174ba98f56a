package dev.puri.client;

import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The unfinished events of a publisher. An event becomes unfinished when the producer accepts it. It is finished when
 * it is acknowledged or failed, and the callbacks of its result have run.
 *
 * <p>An event fails after a timeout. The producer's delivery timeout is not enough: while the producer requests a
 * producer id from an unreachable broker, no batch expires. One timer serves all events, because setting a timer takes
 * as long as accepting an event.
 */
final class InFlightEvents {
    /** Maximum number of threads that run the callbacks of expired events. A callback that blocks occupies one. */
    static final int MAX_EXPIRING_THREADS = 8;

    private static final Duration MAX_CHECK_INTERVAL = Duration.ofMillis(250);

    private final EventSlots<InFlightEvent> events = new EventSlots<>();
    private final AtomicBoolean isTimerSet = new AtomicBoolean();

    /** True for a thread while it runs the callbacks of a result. */
    private final ThreadLocal<Boolean> isRunningCallbacks = new ThreadLocal<>();

    private final Duration timeout;
    private final ErrorConverter errorConverter;
    private final Executor timer;

    /** Discards a task while all threads are busy, because the next check finds the same events again. */
    private final Executor expirer = new ThreadPoolExecutor(
            0,
            MAX_EXPIRING_THREADS,
            1,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            InFlightEvents::newExpiringThread,
            new ThreadPoolExecutor.DiscardPolicy());

    /** Converts an error of the producer into the exception that callers get. */
    interface ErrorConverter {
        PublishException convert(Event event, String topic, Throwable error);
    }

    /**
     * @param timeout time after which an accepted event fails; the failure may be up to 250 ms later
     */
    InFlightEvents(Duration timeout, ErrorConverter errorConverter) {
        this.timeout = timeout;
        this.errorConverter = errorConverter;
        long checkNanos = Math.min(MAX_CHECK_INTERVAL.toNanos(), timeout.toNanos() / 4);
        // Not on the common pool, because all its threads may be waiting for a flush of this publisher.
        this.timer = CompletableFuture.delayedExecutor(checkNanos, TimeUnit.NANOSECONDS, Runnable::run);
    }

    Duration timeout() {
        return timeout;
    }

    /** Returns whether the calling thread is running the callbacks of a result. */
    boolean isRunningCallbacks() {
        return Boolean.TRUE.equals(isRunningCallbacks.get());
    }

    /** Returns the unfinished events, roughly in the order in which the producer accepted them. */
    List<InFlightEvent> unfinished() {
        List<InFlightEvent> unfinished = new ArrayList<>();
        events.forEach(unfinished::add);
        return unfinished;
    }

    /**
     * Waits until all of these events are finished.
     *
     * @return false if the time limit ends first
     */
    static boolean await(List<InFlightEvent> events, Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        // The newest event comes first. When it is finished, most other events are finished too and need no future.
        for (int i = events.size() - 1; i >= 0; i--) {
            if (!events.get(i).await(end - System.nanoTime())) {
                return false;
            }
        }
        return true;
    }

    private void setTimer() {
        if (!isTimerSet.get() && isTimerSet.compareAndSet(false, true)) {
            timer.execute(this::check);
        }
    }

    /**
     * Expires the events whose timeout is over. Runs on the thread that all timers of the process share, so the
     * callbacks of expired events run on other threads.
     */
    private void check() {
        isTimerSet.set(false);
        if (!events.isEmpty()) {
            setTimer();
        }
        long now = System.nanoTime();
        List<InFlightEvent> expired = new ArrayList<>();
        events.forEach(event -> {
            if (now - event.acceptedAt >= timeout.toNanos() && !event.isDone()) {
                expired.add(event);
            }
        });
        if (!expired.isEmpty()) {
            expirer.execute(() -> expired.forEach(InFlightEvent::expire));
        }
    }

    private static Thread newExpiringThread(Runnable task) {
        Thread thread = new Thread(task, "puri-publisher-timeout");
        thread.setDaemon(true);
        return thread;
    }

    /**
     * The result of one event: its position or a PublishException. Callers get this object as a stage, but only this
     * class completes it. It is not wrapped in a minimal stage, which would take a fifth of the time of a publish.
     */
    final class InFlightEvent extends CompletableFuture<Position> implements Callback {
        private final Event event;
        private final String topic;

        private long acceptedAt;
        private volatile EventSlots.@Nullable Slot slot;
        private volatile boolean isFinished;

        /** Completes when the event is finished; null while no flush waits for the event. */
        private volatile @Nullable CompletableFuture<Boolean> finishFuture;

        InFlightEvent(Event event, String topic) {
            this.event = event;
            this.topic = topic;
        }

        /** Returns a copy. Callers may complete or cancel the copy. */
        @Override
        public CompletableFuture<Position> toCompletableFuture() {
            return copy();
        }

        // Callers that cast the stage must not complete it, because the event would stay in flight.

        @Override
        public boolean complete(Position position) {
            throw completedByCaller();
        }

        @Override
        public boolean completeExceptionally(Throwable error) {
            throw completedByCaller();
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            throw completedByCaller();
        }

        @Override
        public void obtrudeValue(Position position) {
            throw completedByCaller();
        }

        @Override
        public void obtrudeException(Throwable error) {
            throw completedByCaller();
        }

        @Override
        public CompletableFuture<Position> completeAsync(Supplier<? extends Position> supplier, Executor executor) {
            throw completedByCaller();
        }

        @Override
        public CompletableFuture<Position> orTimeout(long timeout, TimeUnit unit) {
            throw completedByCaller();
        }

        @Override
        public CompletableFuture<Position> completeOnTimeout(Position position, long timeout, TimeUnit unit) {
            throw completedByCaller();
        }

        private UnsupportedOperationException completedByCaller() {
            return new UnsupportedOperationException(
                    "only the publisher completes this stage; toCompletableFuture() returns"
                            + " a copy that may be completed");
        }

        /** Called once, when the producer has accepted the event. The event may already be complete. */
        void accepted() {
            acceptedAt = System.nanoTime();
            EventSlots.Slot taken = events.add(this);
            slot = taken;
            // The order matters: finish() sets isFinished first and reads the slot afterwards.
            if (isFinished) {
                taken.free();
            } else {
                setTimer();
            }
        }

        @Override
        public void onCompletion(RecordMetadata metadata, @Nullable Exception error) {
            if (error == null) {
                finish(new Position(metadata.topic(), metadata.partition(), metadata.offset()), null);
            } else {
                fail(error);
            }
        }

        /**
         * Waits for the result. If no other thread fails the event in time, the calling thread does, because callbacks
         * that block may occupy all threads of the expirer.
         */
        Position awaitResult() throws InterruptedException, ExecutionException {
            long end = acceptedAt + timeout.toNanos() + MAX_CHECK_INTERVAL.toNanos();
            try {
                return get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (java.util.concurrent.TimeoutException e) {
                expire();
                return get();
            }
        }

        private void expire() {
            fail(new TimeoutException("no acknowledgement within " + timeout.toMillis() + " ms"));
        }

        /** Completes the result with an error, unless it is already complete. */
        void fail(Exception error) {
            finish(null, errorConverter.convert(event, topic, error));
        }

        /**
         * Completes the result, which runs the callbacks, and then marks the event as finished. Exactly one parameter
         * is null.
         */
        private void finish(@Nullable Position position, @Nullable PublishException error) {
            boolean isNested = isRunningCallbacks();
            isRunningCallbacks.set(true);
            try {
                if (error == null ? super.complete(position) : super.completeExceptionally(error)) {
                    // The order matters: finishFuture() creates the future first and reads isFinished afterwards.
                    isFinished = true;
                    CompletableFuture<Boolean> waiting = finishFuture;
                    if (waiting != null) {
                        waiting.complete(true);
                    }
                    EventSlots.Slot taken = slot;
                    if (taken != null) {
                        taken.free();
                    }
                }
            } finally {
                isRunningCallbacks.set(isNested);
            }
        }

        private boolean await(long nanos) throws InterruptedException {
            if (isFinished) {
                return true;
            }
            try {
                return finishFuture().get(nanos, TimeUnit.NANOSECONDS);
            } catch (java.util.concurrent.TimeoutException e) {
                return false;
            } catch (ExecutionException e) {
                throw new IllegalStateException("finishFuture never fails", e);
            }
        }

        /** Returns a future that completes when the event is finished, and never fails. */
        private synchronized CompletableFuture<Boolean> finishFuture() {
            CompletableFuture<Boolean> future = finishFuture;
            if (future == null) {
                future = new CompletableFuture<>();
                finishFuture = future;
            }
            if (isFinished) {
                future.complete(true);
            }
            return future;
        }
    }
}
