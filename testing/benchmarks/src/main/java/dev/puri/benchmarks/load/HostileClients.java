package dev.puri.benchmarks.load;

import dev.puri.benchmarks.environment.BackgroundThread;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Sends malformed and excessive requests in a background thread, to find leaks in a server. Each request has a
 * connection of its own, which is closed before or after the answer.
 */
public final class HostileClients implements AutoCloseable {
    private static final int REQUESTS_PER_SECOND = 500;

    private static final String HOST = " HTTP/1.1\r\nHost: localhost\r\n";
    private static final String LONG = "x".repeat(20_000);

    private static final List<String> REQUESTS = List.of(
            "",
            "\r\n\r\n",
            "GET\r\n\r\n",
            "GET / HTTP/9.9\r\n\r\n",
            "BREW /v1/resolve" + HOST + "\r\n",
            "GET /v1/identities/" + LONG + HOST + "\r\n",
            "GET /v1/identities/%00%0d%0aX: y" + HOST + "\r\n",
            "GET /v1/identities/a:b:\u00ff\u00fe" + HOST + "\r\n",
            "GET /../../etc/passwd" + HOST + "\r\n",
            "GET http://other/v1/stats" + HOST + "\r\n",
            "OPTIONS *" + HOST + "\r\n",
            "GET /v1/stats" + HOST + "X: " + LONG + "\r\n\r\n",
            "GET /v1/stats" + HOST + "No colon\r\n\r\n",
            "GET /v1/stats" + HOST + "Authorization: Bearer " + LONG.substring(0, 9000) + "\r\n\r\n",
            "GET /v1/identities/a:b:c?at=0-99999999999999999999&wait=1s" + HOST + "\r\n",
            "GET /v1/identities/trk_4k7vx9tz2nqr8w3?at=0-99&wait=20s" + HOST + "\r\n",
            "GET /v1/changes" + HOST + "Last-Event-ID: " + LONG.substring(0, 5000) + "\r\n\r\n",
            "GET /v1/changes" + HOST + "\r\n",
            "POST /v1/resolve" + HOST + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST /v1/resolve" + HOST + "Content-Length: 99999999999\r\n\r\n" + LONG,
            "POST /v1/resolve" + HOST + "Content-Length: 1000\r\n\r\n{\"refs\":[\"a:b:c\"",
            "POST /v1/resolve" + HOST + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + LONG,
            "POST /v1/resolve" + HOST + "Content-Length: 20000\r\n\r\n" + "[".repeat(20_000),
            "POST /v1/resolve" + HOST + "Content-Length: 22\r\n\r\n{\"refs\":[\"\\ud800:\\u0000\"]}",
            "GET /v1/identities/a:b:c".concat(HOST).concat("\r\n").repeat(50));

    private final int port;
    private final Random random;
    private final AtomicLong sentCount = new AtomicLong();
    private final BackgroundThread thread;

    /** Starts to send requests, which the seed selects. */
    public HostileClients(int port, long seed) {
        this.port = port;
        this.random = new Random(seed);
        this.thread = new BackgroundThread("hostile-clients", this::run);
    }

    private void run(BooleanSupplier isClosing) {
        while (!isClosing.getAsBoolean()) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                // A reset frees the local port at once. Otherwise, the ports would not last for a minute.
                socket.setSoLinger(true, 0);
                socket.setSoTimeout(2);
                socket.getOutputStream().write(next());
                if (random.nextBoolean()) {
                    socket.getInputStream().read();
                }
            } catch (IOException e) {
                // The server refuses the request, resets the connection or does not answer, as it should.
            }
            sentCount.incrementAndGet();
            LockSupport.parkNanos(1_000_000_000L / REQUESTS_PER_SECOND);
        }
    }

    /** Returns a random request; sometimes it is truncated, or one byte is changed. */
    private byte[] next() {
        byte[] request = REQUESTS.get(random.nextInt(REQUESTS.size())).getBytes(StandardCharsets.ISO_8859_1);
        if (request.length > 0 && random.nextInt(4) == 0) {
            request[random.nextInt(request.length)] = (byte) random.nextInt();
        }
        return random.nextInt(4) == 0 ? Arrays.copyOf(request, random.nextInt(request.length + 1)) : request;
    }

    /** Returns the number of requests that were sent. */
    public long sentCount() {
        return sentCount.get();
    }

    @Override
    public void close() {
        thread.close();
    }
}
