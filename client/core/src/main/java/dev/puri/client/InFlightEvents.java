package dev.puri.client;

import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Events that the producer has accepted and that are not finished. An event is finished when it was acknowledged or
 * failed, and the callbacks of its result have run.
 *
 * <p>Fails an event after a timeout. The producer's own timeout is not enough: while it asks an unreachable broker for
 * a producer id, no batch expires, whatever its delivery timeout. One timer serves all events, because setting a timer
 * takes as long as the producer needs to accept an event.
 */
final class InFlightEvents {
    private static final Duration LONGEST_CHECK_INTERVAL = Duration.ofMillis(250);

    private final EventSlots<InFlightEvent> events = new EventSlots<>();
    private final AtomicBoolean isTimerSet = new AtomicBoolean();

    /** True on a thread that completes a result, while the callbacks of that result run. */
    private final ThreadLocal<Boolean> isRunningCallbacks = new ThreadLocal<>();

    private final Duration timeout;
    private final ErrorConverter errorConverter;
    private final Executor timer;

    /** Converts an error of the producer into the exception that callers get. */
    interface ErrorConverter {
        PublishException convert(Event event, String topic, Throwable error);
    }

    /**
     * @param timeout after which an event fails, counted from when the producer accepted it; it may take 250 ms longer
     */
    InFlightEvents(Duration timeout, ErrorConverter errorConverter) {
        this.timeout = timeout;
        this.errorConverter = errorConverter;
        long checkNanos = Math.min(LONGEST_CHECK_INTERVAL.toNanos(), timeout.toNanos() / 4);
        // Not on the common pool, whose threads may all wait for a flush of this publisher.
        this.timer = CompletableFuture.delayedExecutor(checkNanos, TimeUnit.NANOSECONDS, Runnable::run);
    }

    Duration timeout() {
        return timeout;
    }

    /** Whether the calling thread runs callbacks of a result. */
    boolean isRunningCallbacks() {
        return Boolean.TRUE.equals(isRunningCallbacks.get());
    }

    /** The events that are not finished, more or less in the order in which the producer accepted them. */
    List<InFlightEvent> unfinished() {
        List<InFlightEvent> unfinished = new ArrayList<>();
        events.forEach(unfinished::add);
        return unfinished;
    }

    /**
     * Waits until all of these events are finished.
     *
     * @return whether they are; false after the timeout
     */
    static boolean await(List<InFlightEvent> events, Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        // The newest first: most of the others are finished when it is, and need no future to wait for.
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
     * Runs on the timer's thread, which all timers of the process share, so callbacks of expired events run on another
     * one.
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
            Thread thread = new Thread(() -> expired.forEach(InFlightEvent::expire), "puri-publisher-timeout");
            thread.setDaemon(true);
            thread.start();
        }
    }

    /**
     * The result of one event: its position, or the exception that the publisher makes of an error. Only this class
     * completes it. Callers get it as a stage, without a minimal stage around it, which would take a fifth of the time
     * of a publish.
     */
    final class InFlightEvent extends CompletableFuture<Position> implements Callback {
        private final Event event;
        private final String topic;

        private long acceptedAt;
        private volatile EventSlots.@Nullable Slot slot;
        private volatile boolean isFinished;

        /** Completes when the event is finished; null until a flush waits for it. */
        private volatile @Nullable CompletableFuture<Boolean> finishFuture;

        InFlightEvent(Event event, String topic) {
            this.event = event;
            this.topic = topic;
        }

        /** Returns a copy, which callers may complete or cancel. */
        @Override
        public CompletableFuture<Position> toCompletableFuture() {
            return copy();
        }

        // A caller that casts the stage must not complete it: the event would stay in flight.

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

        /** Called once, when the producer has accepted the event. The producer may have completed the event already. */
        void accepted() {
            acceptedAt = System.nanoTime();
            EventSlots.Slot taken = events.add(this);
            slot = taken;
            // In this order: the thread that finishes the event sets isFinished, and then reads the slot.
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

        private void expire() {
            fail(new TimeoutException("no answer for " + timeout.toMillis() + " ms"));
        }

        /** Completes the result with an error, unless it is complete. */
        void fail(Exception error) {
            finish(null, errorConverter.convert(event, topic, error));
        }

        /**
         * Completes the result, which runs its callbacks, and then marks the event as finished. One of the parameters
         * is null.
         */
        private void finish(@Nullable Position position, @Nullable PublishException error) {
            boolean isNested = isRunningCallbacks();
            isRunningCallbacks.set(true);
            try {
                if (error == null ? super.complete(position) : super.completeExceptionally(error)) {
                    // In this order: a flush creates the future, and then reads whether the event is finished.
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

        /** Completes when the event is finished, and never fails. */
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
