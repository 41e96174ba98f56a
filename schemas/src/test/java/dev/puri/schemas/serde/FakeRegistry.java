package dev.puri.schemas.serde;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaCompatibility.SchemaCompatibilityType;
import org.jspecify.annotations.Nullable;

/** The part of Confluent's API over HTTP that a serializer uses; refuses changes that are not backward compatible. */
final class FakeRegistry implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** The requests, with their credentials. */
    record Request(String method, String path, @Nullable String authorization) {}

    final List<Request> requests = new CopyOnWriteArrayList<>();
    final Map<String, String> compatibility = new TreeMap<>();

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<String> schemas = new ArrayList<>();
    private final Map<String, List<Integer>> subjects = new TreeMap<>();
    private final AtomicInteger failures = new AtomicInteger();
    private volatile int failureStatus;
    private volatile boolean silent;

    FakeRegistry() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    String authority() {
        return "127.0.0.1:" + server.getAddress().getPort();
    }

    /** The next responses have this status and an invalid body. */
    void fail(int times, int status) {
        failureStatus = status;
        failures.set(times);
    }

    /** Accepts requests and never responds. */
    void fallSilent() {
        silent = true;
    }

    synchronized int add(String schema) {
        int known = schemas.indexOf(schema);
        if (known >= 0) {
            return known + 1;
        }
        schemas.add(schema);
        return schemas.size();
    }

    synchronized int add(String subject, Schema schema) {
        int id = add(schema.toString());
        List<Integer> versions = subjects.computeIfAbsent(subject, s -> new ArrayList<>());
        if (!versions.contains(id)) {
            versions.add(id);
        }
        return id;
    }

    private void handle(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        String path = exchange.getRequestURI().getRawPath();
        requests.add(new Request(
                exchange.getRequestMethod(), path, exchange.getRequestHeaders().getFirst("Authorization")));
        if (silent) {
            return;
        }
        if (failures.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
            answer(exchange, failureStatus, JSON.createObjectNode().put("message", "not now"));
            return;
        }
        answer(exchange, path, body.length == 0 ? JSON.createObjectNode() : JSON.readTree(body));
    }

    private synchronized void answer(HttpExchange exchange, String path, JsonNode body) throws IOException {
        String[] parts = path.substring(1).split("/", -1);
        String method = exchange.getRequestMethod();
        if (path.startsWith("/schemas/ids/")) {
            int id = Integer.parseInt(parts[2]);
            if (id < 1 || id > schemas.size()) {
                error(exchange, 404, 40403, "Schema " + id + " not found");
            } else {
                answer(exchange, 200, JSON.createObjectNode().put("schema", schemas.get(id - 1)));
            }
        } else if (method.equals("PUT") && parts[0].equals("config")) {
            compatibility.put(decoded(parts[1]), body.path("compatibility").asText());
            answer(exchange, 200, body);
        } else if (parts[0].equals("config")) {
            String level = compatibility.getOrDefault(decoded(parts[1]), "NONE");
            answer(exchange, 200, JSON.createObjectNode().put("compatibilityLevel", level));
        } else if (parts[0].equals("subjects") && parts.length == 2) {
            find(exchange, decoded(parts[1]), body.path("schema").asText());
        } else if (parts[0].equals("subjects") && method.equals("POST")) {
            register(exchange, decoded(parts[1]), body.path("schema").asText());
        } else if (parts[0].equals("subjects") && parts[parts.length - 1].equals("latest")) {
            List<Integer> versions = subjects.getOrDefault(decoded(parts[1]), List.of());
            if (versions.isEmpty()) {
                error(exchange, 404, 40401, "Subject not found");
            } else {
                answer(exchange, 200, version(decoded(parts[1]), versions.get(versions.size() - 1)));
            }
        } else {
            error(exchange, 404, 404, "HTTP 404 Not Found");
        }
    }

    private void register(HttpExchange exchange, String subject, String schema) throws IOException {
        List<Integer> versions = subjects.getOrDefault(subject, List.of());
        Schema next = new Schema.Parser().parse(schema);
        for (int id : versions) {
            Schema earlier = new Schema.Parser().parse(schemas.get(id - 1));
            if (SchemaCompatibility.checkReaderWriterCompatibility(next, earlier)
                            .getType()
                    != SchemaCompatibilityType.COMPATIBLE) {
                error(exchange, 409, 409, "Schema being registered is incompatible with an earlier schema");
                return;
            }
        }
        answer(exchange, 200, JSON.createObjectNode().put("id", add(subject, next)));
    }

    private void find(HttpExchange exchange, String subject, String schema) throws IOException {
        List<Integer> versions = subjects.get(subject);
        int id = schemas.indexOf(new Schema.Parser().parse(schema).toString()) + 1;
        if (versions == null) {
            error(exchange, 404, 40401, "Subject '" + subject + "' not found.");
        } else if (!versions.contains(id)) {
            error(exchange, 404, 40403, "Schema not found");
        } else {
            answer(exchange, 200, version(subject, id));
        }
    }

    private ObjectNode version(String subject, int id) {
        return JSON.createObjectNode()
                .put("subject", subject)
                .put("version", subjects.getOrDefault(subject, List.of()).indexOf(id) + 1)
                .put("id", id)
                .put("schema", schemas.get(id - 1));
    }

    private static String decoded(String part) {
        return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    private static void error(HttpExchange exchange, int status, int code, String message) throws IOException {
        answer(exchange, status, JSON.createObjectNode().put("error_code", code).put("message", message));
    }

    private static void answer(HttpExchange exchange, int status, JsonNode body) throws IOException {
        byte[] bytes = body.toString().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/vnd.schemaregistry.v1+json");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
