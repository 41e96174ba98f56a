package dev.puri.acceptance;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A TCP proxy in front of a resolver. A test lets it cut the connections on which clients follow changes. */
final class CuttableProxy implements AutoCloseable {
    private static final byte[] FEED = "GET /v1/changes".getBytes(StandardCharsets.US_ASCII);

    private final InetSocketAddress target;
    private final ServerSocket server;
    private final Set<Pipe> pipes = ConcurrentHashMap.newKeySet();

    CuttableProxy(String url) throws IOException {
        URI uri = URI.create(url);
        target = new InetSocketAddress(uri.getHost(), uri.getPort());
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        run(this::accept);
    }

    String url() {
        return "http://127.0.0.1:" + server.getLocalPort();
    }

    /** Cuts every feed in the middle of its data; returns the number of feeds. */
    int cutFeeds() {
        int cut = 0;
        for (Pipe each : pipes) {
            if (each.isFeed) {
                each.close();
                cut++;
            }
        }
        return cut;
    }

    private void accept() throws IOException {
        while (!server.isClosed()) {
            Socket near = server.accept();
            Socket far = new Socket(target.getAddress(), target.getPort());
            Pipe pipe = new Pipe(near, far);
            pipes.add(pipe);
            run(() -> pipe.copy(near, far, true));
            run(() -> pipe.copy(far, near, false));
        }
    }

    private interface Task {
        void run() throws IOException;
    }

    private static void run(Task task) {
        Thread.ofPlatform().name("proxy").daemon().start(() -> {
            try {
                task.run();
            } catch (IOException e) {
                // The connection is closed, as the proxy intends.
            }
        });
    }

    private final class Pipe {
        private final Socket near;
        private final Socket far;
        private volatile boolean isFeed;

        Pipe(Socket near, Socket far) {
            this.near = near;
            this.far = far;
        }

        void copy(Socket from, Socket to, boolean isRequest) throws IOException {
            try (InputStream in = from.getInputStream();
                    OutputStream out = to.getOutputStream()) {
                byte[] buffer = new byte[8192];
                for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                    isFeed |= isRequest && startsAsFeed(buffer, n);
                    out.write(buffer, 0, n);
                }
            } finally {
                close();
            }
        }

        private static boolean startsAsFeed(byte[] buffer, int length) {
            return length >= FEED.length && Arrays.equals(buffer, 0, FEED.length, FEED, 0, FEED.length);
        }

        void close() {
            pipes.remove(this);
            try {
                near.close();
                far.close();
            } catch (IOException e) {
                // Closed already.
            }
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        pipes.forEach(Pipe::close);
    }
}
