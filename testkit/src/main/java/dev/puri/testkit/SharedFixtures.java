package dev.puri.testkit;

import org.jspecify.annotations.Nullable;

/** Fixtures that the tests of one JVM share. Each starts at its first use and is closed when the JVM ends. */
final class SharedFixtures {
    private static @Nullable RestartableBroker broker;
    private static @Nullable RestartableSchemaRegistry registry;
    private static @Nullable RestartableOpenSearch openSearch;

    private SharedFixtures() {}

    static synchronized Broker broker() {
        if (broker == null) {
            broker = Broker.start();
            closeAtExit("broker", broker::close);
        }
        return broker;
    }

    static synchronized SchemaRegistryFixture registry() {
        if (registry == null) {
            registry = SchemaRegistryFixture.start();
            closeAtExit("schema-registry", registry::close);
        }
        return registry;
    }

    static synchronized OpenSearchFixture openSearch() {
        if (openSearch == null) {
            openSearch = OpenSearchFixture.start();
            closeAtExit("opensearch", openSearch::close);
        }
        return openSearch;
    }

    private static void closeAtExit(String what, Runnable close) {
        Runtime.getRuntime().addShutdownHook(new Thread(close, "close-shared-" + what));
    }
}
