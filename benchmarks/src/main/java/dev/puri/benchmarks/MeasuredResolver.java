package dev.puri.benchmarks;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/** A resolver in a process of its own, with the whole population in its table. */
final class MeasuredResolver implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 600;

    private final ServerProcess process;

    private MeasuredResolver(ServerProcess process) {
        this.process = process;
    }

    /** Returns once all rows are in. */
    static MeasuredResolver start(FreshBroker broker, SchemaServer schemas, int rows, List<String> javaOptions)
            throws Exception {
        ServerProcess process = ServerProcess.start(
                javaOptions,
                Map.of(
                        "PURI_BOOTSTRAP_SERVER", broker.bootstrapServers(),
                        "PURI_SCHEMA_REGISTRY", schemas.url(),
                        "PURI_HTTP_PORT", "0"),
                "resolver");
        MeasuredResolver resolver = new MeasuredResolver(process);
        try {
            long begun = System.nanoTime();
            while (resolver.metric("puri_table_rows") < rows) {
                if (Pace.seconds(begun) > PATIENCE_SECONDS) {
                    throw new IllegalStateException("the table was not full in time");
                }
                Thread.sleep(50);
            }
            return resolver;
        } catch (Exception e) {
            resolver.close();
            throw e;
        }
    }

    int port() {
        return process.port();
    }

    ServerProcess.Memory memory() throws IOException {
        return process.memory();
    }

    HttpSocket.Answer ask(byte[] request) throws IOException {
        try (HttpSocket socket = new HttpSocket(port())) {
            return socket.ask(request);
        }
    }

    /**
     * The sum of the meters of this name.
     *
     * @param labels that the line has to contain
     */
    double metric(String name, String... labels) throws IOException {
        return ask(HttpSocket.get("/metrics"))
                .text()
                .lines()
                .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
                .filter(line -> List.of(labels).stream().allMatch(line::contains))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    @Override
    public void close() {
        process.close();
    }
}
