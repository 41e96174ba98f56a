package dev.puri.testkit;

/** A real schema registry for tests: Apicurio, through its Confluent API. */
public interface SchemaRegistryFixture {
    /** The base of its Confluent API, e.g. {@code http://127.0.0.1:8081/apis/ccompat/v7}; the same for its life. */
    String url();

    /** The registry that all tests of this JVM share; started at first use, gone with the JVM. */
    static SchemaRegistryFixture shared() {
        return SharedFixtures.registry();
    }

    /** A registry of the caller's own, for tests that stop it; the caller closes it. */
    static RestartableSchemaRegistry start() {
        return new RestartableSchemaRegistry();
    }
}
