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

/** The part of a schema registry that servers need: schemas of rows, documents and declarations by their ids. */
public final class SchemaServer implements AutoCloseable {
    private final HttpServer server;

    /** Starts a server. */
    public SchemaServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        answer(Population.SCHEMA_ID, Population.schema());
        answer(SearchDocuments.SCHEMA_ID, SearchDocuments.schema());
        answer(SearchDocuments.DECLARATION_SCHEMA_ID, SearchDocuments.declarationSchema());
        server.start();
    }

    private void answer(int id, Schema schema) {
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

    /** Returns its address. */
    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
