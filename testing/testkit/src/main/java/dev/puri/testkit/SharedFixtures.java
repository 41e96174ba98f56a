package dev.puri.testkit;

import org.jspecify.annotations.Nullable;

/** Fixtures that the tests of one JVM share. Each starts at its first use and is closed when the JVM ends. */
final class SharedFixtures {
    private static @Nullable RestartableBroker broker;
    private static @Nullable RestartableSchemaRegistry schemaRegistry;
    private static @Nullable RestartableOpenSearch openSearch;

    private SharedFixtures() {}

    static synchronized Broker broker() {
        if (broker == null) {
            broker = Broker.start();
            closeAtExit("broker", broker::close);
        }
        return broker;
    }

    static synchronized SchemaRegistryFixture schemaRegistry() {
        if (schemaRegistry == null) {
            schemaRegistry = SchemaRegistryFixture.start();
            closeAtExit("schema-registry", schemaRegistry::close);
        }
        return schemaRegistry;
    }

    static synchronized OpenSearchFixture openSearch() {
        if (openSearch == null) {
            openSearch = OpenSearchFixture.start();
            closeAtExit("opensearch", openSearch::close);
        }
        return openSearch;
    }

    private static void closeAtExit(String fixture, Runnable close) {
        Runtime.getRuntime().addShutdownHook(new Thread(close, "close-shared-" + fixture));
    }
}
