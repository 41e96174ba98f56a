package dev.puri.client.testing;

import java.util.Locale;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** How the registry for tests runs. */
enum StackForm {
    /** A process that runs the jars of {@code client-testing-stack}. */
    EMBEDDED,
    /** Docker containers. */
    DOCKER;

    /** Environment variable that selects the form. */
    static final String VARIABLE = "PURI_TEST_STACK";

    /** Valid values of the variable; without a value, the form is chosen. */
    private static final Set<String> FORMS = Set.of("", "embedded", "docker");

    /**
     * Chooses the form: the selected form; or else the process, if its jars are available; or else containers, if
     * Docker is available.
     *
     * @param selected value of {@value #VARIABLE}; null or blank if no form is selected
     * @param hasJars whether {@code client-testing-stack} is on the class path
     * @param hasDocker whether Testcontainers is on the class path and a Docker engine responds; called only if needed
     * @throws RegistryStartException if the selected form is not available, or no form is available
     */
    static StackForm choose(@Nullable String selected, boolean hasJars, BooleanSupplier hasDocker) {
        String form = selected == null ? "" : selected.strip().toLowerCase(Locale.ROOT);
        if (!FORMS.contains(form)) {
            throw new RegistryStartException(VARIABLE + " must be embedded or docker, not \"" + selected + "\"", null);
        }
        if (hasJars && !form.equals("docker")) {
            return EMBEDDED;
        }
        if (!form.equals("embedded") && hasDocker.getAsBoolean()) {
            return DOCKER;
        }
        throw new RegistryStartException(
                switch (form) {
                    case "embedded" ->
                        VARIABLE + "=embedded needs dev.puri:client-testing-stack on the tests' class path";
                    case "docker" ->
                        VARIABLE
                                + "=docker needs org.testcontainers:testcontainers-kafka on the tests' class path and a"
                                + " Docker engine that answers";
                    default ->
                        "there is no registry to test with: add dev.puri:client-testing-stack to the tests' class path, or"
                                + " org.testcontainers:testcontainers-kafka and a Docker engine";
                },
                null);
    }
}
