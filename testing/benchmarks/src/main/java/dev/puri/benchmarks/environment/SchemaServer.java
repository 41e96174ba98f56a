package dev.puri.benchmarks.environment;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.sun.net.httpserver.HttpServer;
import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.data.SearchDocuments;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.apache.avro.Schema;

/** An HTTP server with the part of a schema registry that servers need: schemas of the topics by id. */
public final class SchemaServer implements AutoCloseable {
    private final HttpServer server;

    /** Starts a server. */
    public SchemaServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        addSchema(Population.SCHEMA_ID, Population.schema());
        addSchema(SearchDocuments.SCHEMA_ID, SearchDocuments.schema());
        addSchema(SearchDocuments.DECLARATION_SCHEMA_ID, SearchDocuments.declarationSchema());
        server.start();
    }

    private void addSchema(int id, Schema schema) {
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

    /** Returns the URL of the server. */
    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
