package dev.puri.testkit;

/**
 * A real Kafka broker for tests, in one of two forms: in this process (the default), or in Docker
 * when the system property {@value #FORM_PROPERTY} is {@code docker}, as in the profile of that name.
 * Topics are never made by asking for them, and everything has one replica.
 */
public interface Broker {
    /** System property that chooses the form: {@code embedded} or {@code docker}. */
    String FORM_PROPERTY = "puri.broker";

    /** Where clients connect, as {@code host:port}; the same for the life of the broker. */
    String bootstrapServers();

    /**
     * The broker that all tests of this JVM share; started at first use, gone with the JVM.
     *
     * @throws IllegalStateException when Docker is asked for and does not answer
     */
    static Broker shared() {
        return SharedFixtures.broker();
    }

    /**
     * A broker of the caller's own, for tests that stop it; the caller closes it.
     *
     * @throws IllegalStateException when Docker is asked for and does not answer
     */
    static RestartableBroker start() {
        String form = System.getProperty(FORM_PROPERTY, "");
        return switch (form) {
            case "", "embedded" -> new InProcessBroker();
            case "docker" -> new DockerBroker();
            default ->
                throw new IllegalStateException("-D" + FORM_PROPERTY + "=" + form + ": it is embedded or docker");
        };
    }
}
