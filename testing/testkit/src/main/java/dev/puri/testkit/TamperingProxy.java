package dev.puri.testkit;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A proxy in front of a broker that removes chosen records from the responses to fetch requests.
 *
 * <pre>
 *           requests                 unchanged
 *   client ──────────▶   proxy   ─────────────────▶ broker
 *          ◀──────────           ◀─────────────────
 *      the broker's address        responses
 *      is the proxy's address;
 *      fetched batches lack
 *      the dropped records
 * </pre>
 *
 * <p>A client that bootstraps through the proxy reaches the broker only through it, so the cluster must have one
 * broker. Clients see a log as compaction leaves it: the other records keep their offsets, and a batch keeps its
 * offsets, its producer and its flags, even without records. A reader thus reaches the end offsets, and only its data
 * shows that a record is absent. Other clients of the broker see all records.
 *
 * <p>The proxy listens on a port of the loopback interface. It supports neither TLS nor share consumers. Clients may
 * stay connected to it while the broker restarts. Thread-safe.
 */
public final class TamperingProxy implements Broker, AutoCloseable {
    private static final String HOST = "127.0.0.1";
    private static final int BACKLOG = 50;
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);

    private final InetSocketAddress broker;
    private final ServerSocket server;
    private final ResponseRewriter rewriter;
    private final Thread acceptor = thread("accept", this::accept);
    private final Set<ProxyConnection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();

    private TamperingProxy(InetSocketAddress broker) throws IOException {
        this.broker = broker;
        server = new ServerSocket(0, BACKLOG, InetAddress.getByName(HOST));
        rewriter = new ResponseRewriter(HOST, server.getLocalPort());
    }

    /**
     * Starts a proxy that removes no records yet. The caller must close it.
     *
     * @param bootstrapServers the broker's address, as {@code host:port}; the broker need not be running
     * @throws IllegalArgumentException if this is not one address
     */
    public static TamperingProxy start(String bootstrapServers) {
        try {
            TamperingProxy proxy = new TamperingProxy(address(bootstrapServers));
            proxy.acceptor.start();
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static InetSocketAddress address(String bootstrapServers) {
        int colon = bootstrapServers.lastIndexOf(':');
        if (colon <= 0 || bootstrapServers.contains(",")) {
            throw new IllegalArgumentException(
                    "a proxy needs the address host:port of one broker, not " + bootstrapServers);
        }
        return new InetSocketAddress(
                bootstrapServers.substring(0, colon), Integer.parseInt(bootstrapServers.substring(colon + 1)));
    }

    /** Returns the proxy's address for clients, as {@code host:port}. */
    @Override
    public String bootstrapServers() {
        return HOST + ":" + server.getLocalPort();
    }

    /** Removes every selected record from every fetch response, until the rule ends. */
    public RecordDrop dropAll(RecordDrop.Selector selector) {
        return add(new RecordDrop(selector, false));
    }

    /**
     * Removes one record from every fetch response, until the rule ends: the first selected record that a fetch
     * response contains. All clients then lack the same record, also if they fetch it again.
     */
    public RecordDrop dropFirst(RecordDrop.Selector selector) {
        return add(new RecordDrop(selector, true));
    }

    private RecordDrop add(RecordDrop drop) {
        rewriter.add(drop);
        return drop;
    }

    private void accept() {
        while (true) {
            Socket client;
            try {
                client = server.accept();
            } catch (IOException e) {
                // The proxy is closed.
                return;
            }
            connect(client);
        }
    }

    /** Connects a client with the broker. If the broker is not running, the client's connection ends. */
    private void connect(Socket client) {
        Socket upstream = new Socket();
        try {
            upstream.connect(broker, Math.toIntExact(CONNECT_TIMEOUT.toMillis()));
            upstream.setTcpNoDelay(true);
            client.setTcpNoDelay(true);
        } catch (IOException e) {
            close(client);
            close(upstream);
            return;
        }
        ProxyConnection connection = new ProxyConnection(
                client, upstream, rewriter, each -> failure.compareAndSet(null, each), connections::remove);
        connections.add(connection);
        connection.start();
    }

    static Thread thread(String name, Runnable task) {
        Thread thread = new Thread(task, "tampering-proxy-" + name);
        thread.setDaemon(true);
        return thread;
    }

    static void close(Closeable socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // The operating system ends the connection anyway.
        }
    }

    /**
     * Ends all connections and threads.
     *
     * @throws IllegalStateException if the proxy has ended a connection because of an error of its own or of a selector
     */
    @Override
    public void close() {
        close(server);
        long deadline = System.nanoTime() + CLOSE_TIMEOUT.toNanos();
        join(acceptor, deadline);
        List<ProxyConnection> open = new ArrayList<>(connections);
        open.forEach(ProxyConnection::close);
        open.forEach(connection -> connection.threads().forEach(each -> join(each, deadline)));
        RuntimeException cause = failure.get();
        if (cause != null) {
            throw new IllegalStateException("the proxy has ended a connection because of an error: " + cause, cause);
        }
    }

    private static void join(Thread thread, long deadline) {
        try {
            thread.join(
                    Math.max(1, Duration.ofNanos(deadline - System.nanoTime()).toMillis()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
        if (thread.isAlive()) {
            throw new IllegalStateException(thread.getName() + " does not end");
        }
    }
}
