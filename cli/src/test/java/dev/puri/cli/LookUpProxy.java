package dev.puri.cli;

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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Forwards requests to a resolver, up to a number of requests. Those after it get no answer. */
final class LookUpProxy implements AutoCloseable {
    private final String resolver;
    private final int lastAnswered;
    private final AtomicInteger requests = new AtomicInteger();
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final HttpClient client = HttpClient.newHttpClient();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpServer server;

    /**
     * @param resolver base URL of the resolver
     * @param lastAnswered number of requests that are answered
     */
    LookUpProxy(String resolver, int lastAnswered) throws IOException {
        this.resolver = resolver;
        this.lastAnswered = lastAnswered;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::forward);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Waits until a request arrives that is not answered. Returns false after the timeout. */
    boolean awaitUnanswered(long seconds) throws InterruptedException {
        return reached.await(seconds, TimeUnit.SECONDS);
    }

    private void forward(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (requests.incrementAndGet() > lastAnswered) {
                reached.countDown();
                closed.await();
                return;
            }
            HttpRequest request = HttpRequest.newBuilder(URI.create(resolver + exchange.getRequestURI()))
                    .header("Content-Type", "application/json")
                    .method(
                            exchange.getRequestMethod(),
                            HttpRequest.BodyPublishers.ofByteArray(
                                    exchange.getRequestBody().readAllBytes()))
                    .build();
            HttpResponse<byte[]> response = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
            response.headers()
                    .firstValue("Content-Type")
                    .ifPresent(type -> exchange.getResponseHeaders().set("Content-Type", type));
            exchange.sendResponseHeaders(response.statusCode(), response.body().length);
            exchange.getResponseBody().write(response.body());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
        threads.close();
        client.close();
    }
}
