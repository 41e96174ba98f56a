package dev.puri.cli;

import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** An HTTP server on a free port of the loopback interface, whose responses may stop before their end. */
public final class LocalHttpServer implements AutoCloseable {
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch end = new CountDownLatch(1);
    private final HttpServer server;
    private @Nullable HttpContext context;

    /** Writes a response. */
    public interface Handler {
        void handle(HttpExchange exchange) throws IOException, InterruptedException;
    }

    public LocalHttpServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.start();
    }

    /** Answers each request to paths that begin with this path, and closes its exchange. Replaces the last handler. */
    public void answer(String path, Handler handler) {
        if (context != null) {
            server.removeContext(context);
        }
        context = server.createContext(path, exchange -> {
            try (exchange) {
                handler.handle(exchange);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** Returns when the server is closed: a handler that waits here sends nothing and keeps its connection open. */
    public void awaitEnd() throws InterruptedException {
        end.await();
    }

    /** The URL of the server, without a path. */
    public URI url() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    @Override
    public void close() {
        end.countDown();
        server.stop(0);
        threads.shutdownNow();
    }
}
