package dev.puri.cli;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The ports of the servers of {@code up} and {@code demo}. */
final class PortOptions {
    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "Port of the resolver (default: 8080; 0: any free port).")
    private @Nullable Integer port;

    @Option(
            names = "--public-port",
            paramLabel = "PORT",
            description = "Port of the resolver's public listener (default: 8090; 0: any free port).")
    private @Nullable Integer publicPort;

    @Option(
            names = "--search-port",
            paramLabel = "PORT",
            description = "Port of the search indexer (default: 8083; 0: any free port).")
    private @Nullable Integer searchPort;

    @Option(
            names = "--kafka-port",
            paramLabel = "PORT",
            description = "Port of the broker (default: 9092; 0: any free port).")
    private @Nullable Integer kafkaPort;

    @Option(
            names = "--registry-port",
            paramLabel = "PORT",
            description = "Port of the schema registry (default: 8081; 0: any free port).")
    private @Nullable Integer schemaRegistryPort;

    /**
     * Returns the options of a stack.
     *
     * @param replacesUsed whether any free port replaces a default port that is in use
     * @throws CommandException if a port is not a port number
     */
    EmbeddedStack.Options withData(Path data, boolean replacesUsed) {
        return new EmbeddedStack.Options(
                data,
                portOr(port, 8080, replacesUsed),
                portOr(publicPort, 8090, replacesUsed),
                portOr(searchPort, 8083, replacesUsed),
                portOr(kafkaPort, 9092, replacesUsed),
                portOr(schemaRegistryPort, 8081, replacesUsed));
    }

    private static int portOr(@Nullable Integer requestedPort, int defaultPort, boolean replacesUsed) {
        if (requestedPort != null) {
            return requestedPort;
        }
        return !replacesUsed || EmbeddedStack.isFree(defaultPort) ? defaultPort : 0;
    }
}
