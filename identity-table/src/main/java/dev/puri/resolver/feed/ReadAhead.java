package dev.puri.resolver.feed;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Polls one partition on a thread of its own, up to an end that is known, so that its next records are made while those
 * before are processed. The consumer is its own until it has ended.
 *
 * <p>There are so few polls ahead that what was read is still in the processors' cache when it is processed: some
 * half a millisecond of work. Used by one thread.
 */
final class ReadAhead {
    /** Beside the one that is processed and the one that is read: of 500 records each, some 2 MB of objects together. */
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

    /** Before which everything was taken. */
    private long position;

    /** The consumer. */
    interface Source {
        /** What comes next; returns soon even if there is nothing. */
        ConsumerRecords<byte[], byte[]> poll();

        /** Before which everything was polled. */
        long position();
    }

    private sealed interface Step {
        /** Markers of transactions alone move the position too. */
        record Polled(ConsumerRecords<byte[], byte[]> records, long position) implements Step {}

        record Failed(Throwable cause) implements Step {}

        record Ended() implements Step {}
    }

    /**
     * Begins.
     *
     * @param end at which it ends
     * @param source has no other partition, and is nobody else's until the end or {@link #stop}
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
            // Kept first, for there may be no memory for a step.
            failure = e;
            put(new Step.Failed(e));
        }
    }

    private void put(Step step) {
        try {
            while (!isStopped && !steps.offer(step, LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                // It is processed more slowly than it is read.
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts this thread", e);
        }
    }

    /**
     * The next records; none when the time is over.
     *
     * @return null when the end is reached, and the consumer free
     * @throws RuntimeException what the consumer threw; the consumer is free then too
     */
    @Nullable
    ConsumerRecords<byte[], byte[]> take(long millis) {
        try {
            return switch (steps.poll(millis, TimeUnit.MILLISECONDS)) {
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

    /** A thread that has ended without its last step will never bring anything more. */
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

    /** Before which everything was taken. */
    long position() {
        return position;
    }

    /** Frees the consumer, which may have gone further than what was taken; also when interrupted, as nobody else will. */
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
