package dev.puri.benchmarks.load;

import dev.puri.benchmarks.report.Timing;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Measures response times in an open loop: it sends requests at fixed times, whether or not earlier requests were
 * answered. A response time starts when the request should have been sent. So a stall of the server lengthens the
 * response times of all requests that it delayed. One thread does this and creates few objects, because it competes
 * with the server for the processors.
 */
public final class OpenLoop implements AutoCloseable {
    /** The fraction of the requests that is not measured, while connections open and the JVM compiles code. */
    private static final double WARM_UP_FRACTION = 0.2;

    private static final int MAX_WAIT_SECONDS = 30;
    private static final int MAX_ANSWER_BYTES = 1 << 18;

    /** Maximum delay before the thread reads an answer, if it gets a processor in time. */
    private static final long POLL_NANOS = 50_000;

    private final Selector selector = Selector.open();
    private final Deque<Client> idle = new ArrayDeque<>();
    private final Histogram responseNanos = Timing.histogram();
    private int answerCount;

    private OpenLoop(int port) throws IOException {
        for (int i = 0; i < Wrk.CONNECTIONS; i++) {
            SocketChannel channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.configureBlocking(false);
            Client client = new Client(channel);
            channel.register(selector, SelectionKey.OP_READ, client);
            idle.add(client);
        }
    }

    /**
     * Sends requests over as many connections as {@link Wrk} has. If no connection is free when a request is due, the
     * wait for a connection is part of the response time.
     *
     * @param requests sent one after the other, repeatedly; the answer to each must have status 200
     * @param rate requests per second
     * @return the response times in nanoseconds
     */
    public static Histogram run(int port, List<byte[]> requests, double rate, Duration duration) throws IOException {
        List<ByteBuffer> buffers = requests.stream()
                .map(request ->
                        ByteBuffer.allocateDirect(request.length).put(request).flip())
                .toList();
        try (OpenLoop loop = new OpenLoop(port)) {
            loop.run(buffers, (long) (1e9 / rate), duration.toNanos());
            return loop.responseNanos;
        }
    }

    private void run(List<ByteBuffer> requests, long periodNanos, long durationNanos) throws IOException {
        int count = (int) (durationNanos / periodNanos);
        long startNanos = System.nanoTime();
        long deadline = startNanos + durationNanos + MAX_WAIT_SECONDS * 1_000_000_000L;
        int sentCount = 0;
        while (answerCount < count) {
            long now = System.nanoTime();
            if (now - deadline > 0) {
                throw new IllegalStateException((sentCount - answerCount) + " requests were not answered");
            }
            while (sentCount < count && !idle.isEmpty() && now - (startNanos + sentCount * periodNanos) >= 0) {
                boolean counts = sentCount >= WARM_UP_FRACTION * count;
                idle.pop()
                        .send(requests.get(sentCount % requests.size()), startNanos + sentCount * periodNanos, counts);
                sentCount++;
            }
            if (selector.selectNow(key -> ((Client) key.attachment()).read()) == 0) {
                long nextNanos = sentCount < count && !idle.isEmpty()
                        ? startNanos + sentCount * periodNanos - System.nanoTime()
                        : POLL_NANOS;
                LockSupport.parkNanos(Math.clamp(nextNanos, 1, POLL_NANOS));
            }
        }
    }

    @Override
    public void close() throws IOException {
        for (SelectionKey key : selector.keys()) {
            key.channel().close();
        }
        selector.close();
    }

    /** A connection, which has at most one open request. */
    private final class Client {
        private final SocketChannel channel;
        private final ByteBuffer answer = ByteBuffer.allocateDirect(MAX_ANSWER_BYTES);
        private long dueNanos;
        private boolean counts;

        Client(SocketChannel channel) {
            this.channel = channel;
        }

        void send(ByteBuffer request, long dueNanos, boolean counts) {
            this.dueNanos = dueNanos;
            this.counts = counts;
            answer.clear();
            ByteBuffer bytes = request.duplicate();
            try {
                while (bytes.hasRemaining()) {
                    // This loop ends soon: requests are small, so the socket's buffer has room unless the server reads
                    // nothing.
                    channel.write(bytes);
                }
            } catch (IOException e) {
                throw new IllegalStateException("cannot send a request", e);
            }
        }

        void read() {
            try {
                if (channel.read(answer) < 0) {
                    throw new IllegalStateException("the server closed the connection without an answer");
                }
            } catch (IOException e) {
                throw new IllegalStateException("cannot read an answer", e);
            }
            // The body of an answer ends with a line feed, so with any other last byte the answer is not complete.
            if (answer.position() > 0 && answer.get(answer.position() - 1) == '\n' && isComplete()) {
                if (counts) {
                    Timing.record(System.nanoTime() - dueNanos, responseNanos);
                }
                answerCount++;
                idle.add(this);
            }
        }

        private boolean isComplete() {
            String head = StandardCharsets.ISO_8859_1
                    .decode(answer.duplicate().flip().limit(Math.min(answer.position(), 512)))
                    .toString();
            int end = head.indexOf("\r\n\r\n");
            if (end < 0) {
                return false;
            }
            if (!head.startsWith("HTTP/1.1 200 ")) {
                throw new IllegalStateException("answered with " + head);
            }
            return answer.position() == end + 4 + HttpSocket.bodyLength(head);
        }
    }
}
