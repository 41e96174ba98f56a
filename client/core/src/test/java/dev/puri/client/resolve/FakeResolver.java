package dev.puri.client.resolve;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A resolver whose responses the test defines. */
final class FakeResolver implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    static final String UUID = "01970000-0000-7000-8000-000000000001";
    static final String TIMES = "\"createdAt\":\"2026-11-20T00:00:00Z\",\"changedAt\":\"2026-11-21T00:00:00Z\"";

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch closed = new CountDownLatch(1);

    /** Bodies of requests to {@code /v1/resolve}. */
    final List<JsonNode> asked = new CopyOnWriteArrayList<>();

    final List<String> queries = new CopyOnWriteArrayList<>();
    final BlockingQueue<Stream> streams = new LinkedBlockingQueue<>();

    private volatile Handler resolving = this::answerFound;

    /** Refuses the next streams with this status; 0 opens them. */
    volatile int refuseStreams;

    interface Handler {
        void answer(HttpExchange exchange, JsonNode request) throws Exception;
    }

    FakeResolver() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(threads);
        server.createContext("/v1/resolve", this::resolve);
        server.createContext("/v1/changes", this::changes);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Sets the response to further look-ups. */
    FakeResolver resolving(Handler handler) {
        resolving = handler;
        return this;
    }

    private void resolve(HttpExchange exchange) throws IOException {
        JsonNode request = JSON.readTree(exchange.getRequestBody());
        asked.add(request);
        queries.add(String.valueOf(exchange.getRequestURI().getQuery()));
        try {
            resolving.answer(exchange, request);
        } catch (IOException e) {
            exchange.close();
        } catch (Exception e) {
            exchange.close();
            throw new IllegalStateException(e);
        }
    }

    /** Waits until the test is over, and then closes the connection without a response. */
    void hang(HttpExchange exchange, JsonNode request) throws InterruptedException {
        closed.await(120, TimeUnit.SECONDS);
        exchange.close();
    }

    void answerFound(HttpExchange exchange, JsonNode request) throws IOException {
        ArrayNode results = JSON.createArrayNode();
        for (JsonNode ref : request.get("refs")) {
            results.add(found(text(ref), "br-1"));
        }
        send(exchange, 200, results(results));
    }

    static String results(ArrayNode results) {
        return JSON.createObjectNode().set("results", results).toString();
    }

    static String text(JsonNode ref) {
        return ref.isTextual() ? ref.textValue() : ref.get("ref").textValue();
    }

    static ObjectNode found(String ref, String shard) {
        return (ObjectNode) json("{\"ref\":\"" + ref + "\",\"verdict\":\"found\",\"puri\":\""
                + (ref.indexOf(':') < 0 ? "music:tracks:of-handle" : ref) + "\""
                + (ref.indexOf(':') < 0 ? ",\"handle\":\"" + ref + "\"" : "")
                + ",\"owner\":\"catalog\",\"shard\":\"" + shard + "\",\"uuid\":\"" + UUID
                + "\",\"status\":\"active\",\"epoch\":3," + TIMES + "}");
    }

    static JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void send(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    /** One connected follower of the changes. */
    final class Stream {
        final String lastEventId;
        private final OutputStream out;
        private final CountDownLatch over = new CountDownLatch(1);

        Stream(HttpExchange exchange) {
            lastEventId = exchange.getRequestHeaders().getFirst("Last-Event-ID");
            out = exchange.getResponseBody();
        }

        Stream id(long seconds, long offset) {
            return tell("id: " + FakeResolver.id(seconds, offset) + "\n\n");
        }

        Stream changed(long seconds, long offset, String puri, String status) {
            return tell("id: " + FakeResolver.id(seconds, offset) + "\nevent: changed\ndata: {\"puri\":\"" + puri
                    + "\",\"status\":\"" + status + "\"}\n\n");
        }

        Stream tell(String text) {
            try {
                out.write(text.getBytes(StandardCharsets.UTF_8));
                out.flush();
                return this;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        void end() {
            over.countDown();
        }
    }

    private void changes(HttpExchange exchange) throws IOException {
        if (refuseStreams != 0) {
            send(exchange, refuseStreams, "{}");
            return;
        }
        exchange.sendResponseHeaders(200, 0);
        Stream stream = new Stream(exchange);
        try {
            stream.tell(":\n\n");
            streams.add(stream);
            stream.over.await(120, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        exchange.close();
    }

    /** The next follower. */
    Stream stream() {
        try {
            Stream next = streams.poll(60, TimeUnit.SECONDS);
            if (next == null) {
                throw new AssertionError("nobody follows the changes");
            }
            return next;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns an id as a resolver writes it, for one partition. */
    static String id(long seconds, long offset) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(new byte[] {1, 2, 3, 4});
        for (long value : new long[] {seconds, offset}) {
            long rest = value;
            for (; rest > 0x7f; rest >>>= 7) {
                bytes.write((int) (rest & 0x7f) | 0x80);
            }
            bytes.write((int) rest);
        }
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes.toByteArray());
    }

    /** Closes all connections, as a process that ends. */
    @Override
    public void close() {
        closed.countDown();
        streams.forEach(Stream::end);
        server.stop(0);
        threads.shutdownNow();
    }
}
