package dev.puri.testkit;

/**
 * A real Kafka broker for tests. By default it runs in this process. If the system property {@value #FORM_PROPERTY} is
 * {@code docker}, as in the Maven profile {@code docker}, it runs in Docker. The broker does not create topics
 * automatically, and all topics have one replica.
 */
public interface Broker {
    /** System property that chooses the kind of broker: {@code embedded} or {@code docker}. */
    String FORM_PROPERTY = "puri.broker";

    /** Returns the address for clients, as {@code host:port}. A restart does not change it. */
    String bootstrapServers();

    /**
     * Returns the broker that all tests of this JVM share. It starts at its first use and ends with the JVM.
     *
     * @throws IllegalStateException if a broker in Docker is configured but no Docker engine responds
     */
    static Broker shared() {
        return SharedFixtures.broker();
    }

    /**
     * Starts a broker for tests that stop it. The caller must close it.
     *
     * @throws IllegalStateException if a broker in Docker is configured but no Docker engine responds
     */
    static RestartableBroker start() {
        String form = System.getProperty(FORM_PROPERTY, "");
        return switch (form) {
            case "", "embedded" -> new InProcessBroker();
            case "docker" -> new DockerBroker();
            default ->
                throw new IllegalStateException("-D" + FORM_PROPERTY + " must be embedded or docker, not " + form);
        };
    }
}
