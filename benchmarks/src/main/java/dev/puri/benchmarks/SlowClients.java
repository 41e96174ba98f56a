package dev.puri.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Connections that begin a request and then say a byte a second; who is cut off comes again. */
final class SlowClients implements AutoCloseable {
    private static final int DRIPS_A_SECOND = 50;

    /** What never comes to its end. */
    enum Attack {
        HEADERS("GET /v1/identities/a:b:c HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", 'a'),
        BODY("POST /v1/resolve HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{\"refs\":[", ' ');

        private final byte[] beginning;
        private final byte[] drip;

        Attack(String beginning, char drip) {
            this.beginning = beginning.getBytes(StandardCharsets.US_ASCII);
            this.drip = new byte[] {(byte) drip};
        }
    }

    private final int port;
    private final Attack attack;
    private final List<@Nullable Socket> clients = new ArrayList<>();
    private final AtomicLong cutOff = new AtomicLong();
    private final Thread thread = Thread.ofPlatform().name("slow-clients").unstarted(this::drip);
    private volatile boolean isClosing;

    /** Returns once all are connected. */
    SlowClients(int port, Attack attack, int count) throws IOException {
        this.port = port;
        this.attack = attack;
        for (int i = 0; i < count; i++) {
            clients.add(connect());
        }
        thread.start();
    }

    private Socket connect() throws IOException {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), port);
        client.getOutputStream().write(attack.beginning);
        return client;
    }

    private void drip() {
        for (int turn = 0; !isClosing; turn++) {
            for (int i = turn % DRIPS_A_SECOND; i < clients.size(); i += DRIPS_A_SECOND) {
                clients.set(i, dripped(clients.get(i)));
            }
            LockSupport.parkNanos(1_000_000_000L / DRIPS_A_SECOND);
        }
    }

    private @Nullable Socket dripped(@Nullable Socket client) {
        try {
            if (client == null) {
                return connect();
            }
            client.getOutputStream().write(attack.drip);
            return client;
        } catch (IOException e) {
            cutOff.incrementAndGet();
            close(client);
            return null;
        }
    }

    private static void close(@Nullable Socket client) {
        try {
            if (client != null) {
                client.close();
            }
        } catch (IOException e) {
            // It is gone all the same.
        }
    }

    /** How often the server has ended one. */
    long cutOff() {
        return cutOff.get();
    }

    @Override
    public void close() {
        isClosing = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        clients.forEach(SlowClients::close);
    }
}
