package dev.puri.resolver;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Polls one partition on a thread of its own, up to an end that is known, so that the next part of it
 * comes over the network while the one before is processed. The consumer is its own until it has ended.
 *
 * <p>There are so many polls ahead and no more. Used by one thread.
 */
final class ReadAhead {
    /** Of a thousand records each, unless somebody configures otherwise: some 5 MB. */
    private static final int MOST = 16;

    private static final long LOOK_MILLIS = 100;

    private final TopicPartition partition;
    private final long end;
    private final Supplier<ConsumerRecords<byte[], byte[]>> poll;
    private final BlockingQueue<Step> steps = new ArrayBlockingQueue<>(MOST);
    private final Thread thread =
            Thread.ofPlatform().name("table-fetcher").daemon(true).unstarted(this::run);
    private volatile boolean isStopped;

    /** Before which everything was taken. */
    private long position;

    private sealed interface Step {
        record Polled(ConsumerRecords<byte[], byte[]> records) implements Step {}

        record Failed(Throwable cause) implements Step {}

        record Ended() implements Step {}
    }

    /**
     * Begins.
     *
     * @param from the consumer's position
     * @param end at which it ends
     * @param poll asks the consumer, and returns soon even if there is nothing
     */
    ReadAhead(TopicPartition partition, long from, long end, Supplier<ConsumerRecords<byte[], byte[]>> poll) {
        this.partition = partition;
        this.position = from;
        this.end = end;
        this.poll = poll;
        thread.start();
    }

    private void run() {
        try {
            long next = position;
            while (next < end && !isStopped) {
                ConsumerRecords<byte[], byte[]> records = poll.get();
                OffsetAndMetadata after = records.nextOffsets().get(partition);
                if (after != null) {
                    next = after.offset();
                    put(new Step.Polled(records));
                }
            }
            put(new Step.Ended());
        } catch (RuntimeException | Error e) {
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
                    OffsetAndMetadata after = polled.records().nextOffsets().get(partition);
                    position = after == null ? position : after.offset();
                    yield polled.records();
                }
                case Step.Ended ended -> {
                    thread.join();
                    yield null;
                }
                case Step.Failed failed -> {
                    thread.join();
                    throw unchecked(failed.cause());
                }
                case null -> ConsumerRecords.empty();
            };
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    private static RuntimeException unchecked(Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        return (RuntimeException) cause;
    }

    /** Before which everything was taken. */
    long position() {
        return position;
    }

    /** Frees the consumer, and forgets what was read and not taken. */
    void stop() {
        isStopped = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }
}
