package dev.puri.testkit;

/** A real schema registry for tests: Apicurio Registry with its Confluent API. */
public interface SchemaRegistryFixture {
    /**
     * Returns the base URL of the Confluent API, e.g. {@code http://127.0.0.1:8081/apis/ccompat/v7}. A restart does not
     * change it.
     */
    String url();

    /** Returns the registry that all tests of this JVM share. It starts at its first use and ends with the JVM. */
    static SchemaRegistryFixture shared() {
        return SharedFixtures.schemaRegistry();
    }

    /** Starts a registry for tests that stop it. The caller must close it. */
    static RestartableSchemaRegistry start() {
        return new RestartableSchemaRegistry();
    }
}
