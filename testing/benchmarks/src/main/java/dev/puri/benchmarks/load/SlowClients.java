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
 * Slow clients: connections that begin a request and then send one byte per second. A connection that the server closes
 * is opened again.
 */
public final class SlowClients implements AutoCloseable {
    private static final int STEPS_PER_SECOND = 50;

    private final int port;
    private final Attack attack;
    private final List<@Nullable Socket> clients = new ArrayList<>();
    private final AtomicLong closedByServer = new AtomicLong();
    private final BackgroundThread thread;

    /** The part of a request that the clients never complete. */
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

    /** Connects all clients, and starts the thread that sends bytes. */
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
            for (int i = step % STEPS_PER_SECOND; i < clients.size(); i += STEPS_PER_SECOND) {
                clients.set(i, sendByte(clients.get(i)));
            }
            LockSupport.parkNanos(1_000_000_000L / STEPS_PER_SECOND);
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
            closedByServer.incrementAndGet();
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
            // The server has already closed the connection.
        }
    }

    /** Returns the number of connections that the server has closed. */
    public long closedByServer() {
        return closedByServer.get();
    }

    @Override
    public void close() {
        thread.close();
        clients.forEach(SlowClients::close);
    }
}
