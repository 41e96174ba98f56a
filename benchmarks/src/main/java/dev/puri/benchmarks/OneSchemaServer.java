package dev.puri.benchmarks;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** What a resolver asks of a schema registry: the schema of rows, the only one there is. */
final class OneSchemaServer implements AutoCloseable {
    private final HttpServer server;

    private OneSchemaServer(HttpServer server) {
        this.server = server;
    }

    static OneSchemaServer start() throws IOException {
        byte[] answer = JsonNodeFactory.instance
                .objectNode()
                .put("schema", Population.schema().toString())
                .toString()
                .getBytes(StandardCharsets.UTF_8);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/schemas/ids/" + Population.SCHEMA_ID, exchange -> {
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        return new OneSchemaServer(server);
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
