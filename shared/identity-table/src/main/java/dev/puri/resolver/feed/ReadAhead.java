package dev.puri.resolver.feed;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Polls one partition ahead in its own thread, up to a known end offset. So the consumer decodes the next records while
 * Kafka Streams processes the previous ones. The thread has exclusive use of the consumer until it ends.
 *
 * <p>The thread is at most a few polls ahead, about half a millisecond of work, so that records are still in the
 * processor's cache when they are processed. One thread calls the methods of this class.
 */
final class ReadAhead {
    /**
     * The maximum number of queued polls. Together with the poll that is processed and the poll that is read, of 500
     * records each, these are about 2 MB of objects.
     */
    static final int MAX_POLLS = 2;

    private static final long CHECK_MILLIS = 100;

    private final TopicPartition partition;
    private final long end;
    private final Source source;
    private final BlockingQueue<PollResult> results = new ArrayBlockingQueue<>(MAX_POLLS);
    private final Thread thread =
            Thread.ofPlatform().name("table-fetcher").daemon(true).unstarted(this::run);
    private volatile boolean isStopped;
    private volatile @Nullable Throwable failure;

    /** See {@link #position()}. */
    private long position;

    /** The consumer. */
    interface Source {
        /** Returns the next records. Returns soon, even if there are none. */
        ConsumerRecords<byte[], byte[]> poll();

        /** Returns the offset after the polled records. */
        long position();
    }

    /** An element of the queue. */
    private sealed interface PollResult {
        /**
         * The result of a poll.
         *
         * @param position the offset after the poll. Transaction markers advance it even if there are no records
         */
        record Polled(ConsumerRecords<byte[], byte[]> records, long position) implements PollResult {}

        record Failed(Throwable cause) implements PollResult {}

        record Ended() implements PollResult {}
    }

    /**
     * Starts to poll.
     *
     * @param end the offset at which the thread ends
     * @param source a consumer of only this partition. The caller must not use it before {@link #take} returns null or
     *     throws, or before {@link #stop} returns
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
                    put(new PollResult.Polled(records, after));
                }
                next = after;
            }
            put(new PollResult.Ended());
        } catch (RuntimeException | Error e) {
            // Set first, because there may be no memory for the result.
            failure = e;
            put(new PollResult.Failed(e));
        }
    }

    private void put(PollResult result) {
        try {
            while (!isStopped && !results.offer(result, CHECK_MILLIS, TimeUnit.MILLISECONDS)) {
                // The queue is full, because records are processed more slowly than they are read.
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("the read-ahead thread was interrupted", e);
        }
    }

    /**
     * Returns the next records, or no records after the timeout.
     *
     * @return null if the end is reached; then the caller may use the consumer
     * @throws RuntimeException the exception of the consumer; then the caller may use the consumer too
     */
    @Nullable
    ConsumerRecords<byte[], byte[]> take(long millis) {
        try {
            // A thread that has ended adds no result to wait for.
            long wait = thread.isAlive() ? millis : 0;
            return switch (results.poll(wait, TimeUnit.MILLISECONDS)) {
                case PollResult.Polled polled -> {
                    position = polled.position();
                    yield polled.records();
                }
                case PollResult.Ended ended -> {
                    stop();
                    yield null;
                }
                case PollResult.Failed failed -> {
                    stop();
                    throw unchecked(failed.cause());
                }
                case null -> emptyOrFailure();
            };
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /** Throws if the thread failed and could not even queue the failure. */
    private ConsumerRecords<byte[], byte[]> emptyOrFailure() {
        Throwable cause = failure;
        if (cause != null && !thread.isAlive() && results.isEmpty()) {
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

    /** Returns the offset after the records that {@link #take} has returned. */
    long position() {
        return position;
    }

    /**
     * Ends the thread, so that the caller may use the consumer. The consumer's position may be after {@link #position}.
     * Waits for the thread even if interrupted, because the caller cannot use the consumer before.
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
