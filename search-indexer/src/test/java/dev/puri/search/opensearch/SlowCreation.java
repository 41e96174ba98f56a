package dev.puri.search.opensearch;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;

/** A proxy of a node that holds the first request to create an index, as a busy cluster does, until it is released. */
final class SlowCreation implements AutoCloseable {
    private final String node;
    private final HttpServer server;
    private final HttpClient client = HttpClient.newHttpClient();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicBoolean isHeld = new AtomicBoolean();
    private final CountDownLatch released = new CountDownLatch(1);
    private final CountDownLatch executed = new CountDownLatch(1);

    SlowCreation(String node) throws IOException {
        this.node = node;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::forward);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Returns whether the proxy has got the request. */
    boolean isHeld() {
        return isHeld.get();
    }

    /** Lets the node execute the request, and returns when it has responded. */
    void release() throws InterruptedException {
        released.countDown();
        executed.await();
    }

    private void forward(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        boolean isFirstCreation = exchange.getRequestMethod().equals("PUT") && isHeld.compareAndSet(false, true);
        try {
            if (isFirstCreation) {
                released.await();
            }
            HttpResponse<byte[]> response = client.send(
                    HttpRequest.newBuilder(URI.create(node + exchange.getRequestURI()))
                            .header("Content-Type", "application/json")
                            .method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.ofByteArray(body))
                            .build(),
                    HttpResponse.BodyHandlers.ofByteArray());
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(response.statusCode(), response.body().length);
            exchange.getResponseBody().write(response.body());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            if (isFirstCreation) {
                executed.countDown();
            }
            exchange.close();
        }
    }

    @Override
    public void close() {
        released.countDown();
        server.stop(0);
        threads.close();
        client.close();
    }
}
