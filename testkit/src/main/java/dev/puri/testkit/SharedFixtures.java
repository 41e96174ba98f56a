package dev.puri.testkit;

import org.jspecify.annotations.Nullable;

/** What the tests of one JVM share; each part starts at its first use and goes with the JVM. */
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
