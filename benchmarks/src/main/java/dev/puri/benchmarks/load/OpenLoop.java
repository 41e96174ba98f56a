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
 * Sends requests at fixed times, whether or not earlier ones were answered. The time of a request counts from when it
 * should have been sent, so a stall lengthens the times of all requests that it held up. One thread does this and makes
 * few objects, because it takes its processor time from the server.
 */
public final class OpenLoop implements AutoCloseable {
    /** The part at the beginning that does not count: connections open, and the JVM compiles code. */
    private static final double WARM_UP = 0.2;

    private static final int LONGEST_WAIT_SECONDS = 30;
    private static final int MOST_BYTES = 1 << 18;

    /** An answer is read this much late at most, when the machine keeps up. */
    private static final long STEP_NANOS = 50_000;

    private final Selector selector = Selector.open();
    private final Deque<Client> idle = new ArrayDeque<>();
    private final Histogram nanos = Timing.histogram();
    private int answered;

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
     * Sends requests over as many connections as {@link Wrk} has. One that is due when no connection is free waits for
     * one, and its time runs.
     *
     * @param requests sent one after the other, and over again; each has to be answered with 200
     * @param rate a second
     * @return nanoseconds
     */
    public static Histogram run(int port, List<byte[]> requests, double rate, Duration duration) throws IOException {
        List<ByteBuffer> buffers = requests.stream()
                .map(request ->
                        ByteBuffer.allocateDirect(request.length).put(request).flip())
                .toList();
        try (OpenLoop loop = new OpenLoop(port)) {
            loop.run(buffers, (long) (1e9 / rate), duration.toNanos());
            return loop.nanos;
        }
    }

    private void run(List<ByteBuffer> requests, long period, long duration) throws IOException {
        int count = (int) (duration / period);
        long begun = System.nanoTime();
        long deadline = begun + duration + LONGEST_WAIT_SECONDS * 1_000_000_000L;
        int sent = 0;
        while (answered < count) {
            long now = System.nanoTime();
            if (now - deadline > 0) {
                throw new IllegalStateException((sent - answered) + " requests were not answered");
            }
            while (sent < count && !idle.isEmpty() && now - (begun + sent * period) >= 0) {
                boolean counts = sent >= WARM_UP * count;
                idle.pop().ask(requests.get(sent % requests.size()), begun + sent * period, counts);
                sent++;
            }
            if (selector.selectNow(key -> ((Client) key.attachment()).read()) == 0) {
                long next = sent < count && !idle.isEmpty() ? begun + sent * period - System.nanoTime() : STEP_NANOS;
                LockSupport.parkNanos(Math.clamp(next, 1, STEP_NANOS));
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

    /** One connection. */
    private final class Client {
        private final SocketChannel channel;
        private final ByteBuffer answer = ByteBuffer.allocateDirect(MOST_BYTES);
        private long due;
        private boolean counts;

        Client(SocketChannel channel) {
            this.channel = channel;
        }

        void ask(ByteBuffer request, long due, boolean counts) {
            this.due = due;
            this.counts = counts;
            answer.clear();
            ByteBuffer bytes = request.duplicate();
            try {
                while (bytes.hasRemaining()) {
                    // Requests are small; a socket takes nothing only if its server reads nothing.
                    channel.write(bytes);
                }
            } catch (IOException e) {
                throw new IllegalStateException("cannot ask", e);
            }
        }

        void read() {
            try {
                if (channel.read(answer) < 0) {
                    throw new IllegalStateException("closed instead of answering");
                }
            } catch (IOException e) {
                throw new IllegalStateException("cannot be answered", e);
            }
            // An answer ends with its only line feed, so any other last byte means that it is not complete.
            if (answer.position() > 0 && answer.get(answer.position() - 1) == '\n' && isWhole()) {
                if (counts) {
                    Timing.record(System.nanoTime() - due, nanos);
                }
                answered++;
                idle.add(this);
            }
        }

        private boolean isWhole() {
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
