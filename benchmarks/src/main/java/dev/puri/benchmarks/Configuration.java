package dev.puri.benchmarks;

import dev.puri.http.Settings;
import dev.puri.registry.StreamsSettings;
import java.util.Map;

/** The topology's settings, the defaults but for where things are. */
final class Configuration {
    private Configuration() {}

    static StreamsSettings of(FreshBroker broker, String schemaRegistry) {
        return Settings.read(
                StreamsSettings.class,
                Map.of(
                        "bootstrap.server",
                        broker.bootstrapServers(),
                        "schema.registry",
                        schemaRegistry,
                        "streams.state.dir",
                        broker.directory("streams").toString(),
                        "streams.http.port",
                        "0"),
                Map.of(),
                null);
    }
}
