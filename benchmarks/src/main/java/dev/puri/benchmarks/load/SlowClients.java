package dev.puri.benchmarks.load;

import dev.puri.benchmarks.environment.BackgroundThread;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Connections that begin a request and then send a byte a second. A connection that the server ends is opened again.
 */
public final class SlowClients implements AutoCloseable {
    private static final int STEPS_A_SECOND = 50;

    private final int port;
    private final Attack attack;
    private final List<@Nullable Socket> clients = new ArrayList<>();
    private final AtomicLong cutOff = new AtomicLong();
    private final BackgroundThread thread;

    /** The part of a request that never ends. */
    public enum Attack {
        HEADERS("GET /v1/identities/a:b:c HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", 'a'),
        BODY("POST /v1/resolve HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{\"refs\":[", ' ');

        private final byte[] beginning;
        private final byte[] next;

        Attack(String beginning, char next) {
            this.beginning = beginning.getBytes(StandardCharsets.US_ASCII);
            this.next = new byte[] {(byte) next};
        }
    }

    /** Returns when all are connected. */
    public SlowClients(int port, Attack attack, int count) throws IOException {
        this.port = port;
        this.attack = attack;
        for (int i = 0; i < count; i++) {
            clients.add(connect());
        }
        thread = new BackgroundThread("slow-clients", this::run);
    }

    private Socket connect() throws IOException {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), port);
        client.getOutputStream().write(attack.beginning);
        return client;
    }

    private void run(BooleanSupplier isClosing) {
        for (int step = 0; !isClosing.getAsBoolean(); step++) {
            for (int i = step % STEPS_A_SECOND; i < clients.size(); i += STEPS_A_SECOND) {
                clients.set(i, sendByte(clients.get(i)));
            }
            LockSupport.parkNanos(1_000_000_000L / STEPS_A_SECOND);
        }
    }

    private @Nullable Socket sendByte(@Nullable Socket client) {
        try {
            if (client == null) {
                return connect();
            }
            client.getOutputStream().write(attack.next);
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
            // The server has closed it.
        }
    }

    /** Returns how many connections the server has ended. */
    public long cutOff() {
        return cutOff.get();
    }

    @Override
    public void close() {
        thread.close();
        clients.forEach(SlowClients::close);
    }
}
