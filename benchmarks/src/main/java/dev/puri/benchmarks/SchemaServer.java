package dev.puri.benchmarks;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.avro.Schema;

/** What servers ask of a schema registry, and nothing else: the schemas of rows, documents and declarations by their ids. */
final class SchemaServer implements AutoCloseable {
    private final HttpServer server;

    private SchemaServer(HttpServer server) {
        this.server = server;
    }

    static SchemaServer start() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        Map.of(
                        Population.SCHEMA_ID,
                        Population.schema(),
                        Library.SCHEMA_ID,
                        Library.schema(),
                        Library.DECLARATION_SCHEMA_ID,
                        Library.declarationSchema())
                .forEach((id, schema) -> answer(server, id, schema));
        server.start();
        return new SchemaServer(server);
    }

    private static void answer(HttpServer server, int id, Schema schema) {
        byte[] answer = JsonNodeFactory.instance
                .objectNode()
                .put("schema", schema.toString())
                .toString()
                .getBytes(StandardCharsets.UTF_8);
        server.createContext("/schemas/ids/" + id, exchange -> {
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
