package dev.puri.benchmarks.serve;

import dev.puri.benchmarks.environment.Await;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.SchemaServer;
import dev.puri.benchmarks.load.HttpSocket;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A resolver in a separate process. */
public final class MeasuredResolver extends MeasuredServer {
    private static final Duration FILL_TIMEOUT = Duration.ofMinutes(10);

    private MeasuredResolver(FreshBroker broker, SchemaServer schemas, List<String> javaOptions) throws IOException {
        super(
                javaOptions,
                Map.of(
                        "PURI_BOOTSTRAP_SERVER", broker.bootstrapServers(),
                        "PURI_SCHEMA_REGISTRY", schemas.url(),
                        "PURI_HTTP_PORT", "0"),
                "resolver");
    }

    /** Starts a resolver, and returns when its table has all rows. */
    public static MeasuredResolver start(FreshBroker broker, SchemaServer schemas, int rows, List<String> javaOptions)
            throws IOException {
        MeasuredResolver resolver = new MeasuredResolver(broker, schemas, javaOptions);
        try {
            Await.until("a complete table", FILL_TIMEOUT, () -> resolver.metric("puri_table_rows") >= rows);
            return resolver;
        } catch (IOException | RuntimeException e) {
            resolver.close();
            throw e;
        }
    }

    /** Returns the base URL of the resolver. */
    public String url() {
        return "http://127.0.0.1:" + port();
    }

    /** Sends a request over a new connection, and returns the answer. */
    public HttpSocket.Response ask(byte[] request) throws IOException {
        return HttpSocket.askOnce(port(), request);
    }

    /**
     * Returns the sum of the metrics with a name.
     *
     * @param labels only metrics whose line contains all these labels count
     */
    public double metric(String name, String... labels) throws IOException {
        return ask(HttpSocket.get("/metrics"))
                .text()
                .lines()
                .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
                .filter(line -> List.of(labels).stream().allMatch(line::contains))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }
}
