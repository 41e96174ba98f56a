package dev.puri.resolver.feed;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Polls one partition in a thread of its own, up to a known end, so that its next records are decoded while the ones
 * before are processed. It owns the consumer until it has ended.
 *
 * <p>It is few polls ahead, some half a millisecond of work, so that records are still in the processor's cache when
 * they are processed. Used by one thread.
 */
final class ReadAhead {
    /**
     * Polls that wait; with the one being processed and the one being read, of 500 records each, some 2 MB of objects.
     */
    static final int MOST = 2;

    private static final long LOOK_MILLIS = 100;

    private final TopicPartition partition;
    private final long end;
    private final Source source;
    private final BlockingQueue<Step> steps = new ArrayBlockingQueue<>(MOST);
    private final Thread thread =
            Thread.ofPlatform().name("table-fetcher").daemon(true).unstarted(this::run);
    private volatile boolean isStopped;
    private volatile @Nullable Throwable failure;

    /** The offset after the records that {@link #take} has returned. */
    private long position;

    /** The consumer. */
    interface Source {
        /** The next records; returns soon even if there are none. */
        ConsumerRecords<byte[], byte[]> poll();

        /** The offset after the records that were polled. */
        long position();
    }

    private sealed interface Step {
        /** Transaction markers advance the position without records. */
        record Polled(ConsumerRecords<byte[], byte[]> records, long position) implements Step {}

        record Failed(Throwable cause) implements Step {}

        record Ended() implements Step {}
    }

    /**
     * Starts to poll.
     *
     * @param end the offset at which it ends
     * @param source has no other partition, and is not used otherwise until the end or {@link #stop}
     */
    ReadAhead(TopicPartition partition, long end, Source source) {
        this.partition = partition;
        this.position = source.position();
        this.end = end;
        this.source = source;
        thread.start();
    }

    private void run() {
        try {
            long next = position;
            while (next < end && !isStopped) {
                ConsumerRecords<byte[], byte[]> records = source.poll();
                long after = source.position();
                if (!records.isEmpty() || after != next) {
                    put(new Step.Polled(records, after));
                }
                next = after;
            }
            put(new Step.Ended());
        } catch (RuntimeException | Error e) {
            // Before the step, for which there may be no memory.
            failure = e;
            put(new Step.Failed(e));
        }
    }

    private void put(Step step) {
        try {
            while (!isStopped && !steps.offer(step, LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                // Records are processed more slowly than they are read.
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts this thread", e);
        }
    }

    /**
     * The next records; none after the timeout.
     *
     * @return null when the end is reached and the consumer is free
     * @throws RuntimeException whatever the consumer threw; the consumer is free then too
     */
    @Nullable
    ConsumerRecords<byte[], byte[]> take(long millis) {
        try {
            // A thread that has ended adds no step to wait for.
            long wait = thread.isAlive() ? millis : 0;
            return switch (steps.poll(wait, TimeUnit.MILLISECONDS)) {
                case Step.Polled polled -> {
                    position = polled.position();
                    yield polled.records();
                }
                case Step.Ended ended -> {
                    stop();
                    yield null;
                }
                case Step.Failed failed -> {
                    stop();
                    throw unchecked(failed.cause());
                }
                case null -> noneYet();
            };
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /** A thread that has ended without its last step returns no more records. */
    private ConsumerRecords<byte[], byte[]> noneYet() {
        Throwable cause = failure;
        if (cause != null && !thread.isAlive() && steps.isEmpty()) {
            stop();
            throw unchecked(cause);
        }
        return ConsumerRecords.empty();
    }

    private static RuntimeException unchecked(Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        return (RuntimeException) cause;
    }

    TopicPartition partition() {
        return partition;
    }

    /** The offset after the records that {@link #take} has returned. */
    long position() {
        return position;
    }

    /**
     * Frees the consumer, whose position may be after {@link #position}. Waits for the thread even when interrupted,
     * since nothing else frees the consumer.
     */
    void stop() {
        isStopped = true;
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
