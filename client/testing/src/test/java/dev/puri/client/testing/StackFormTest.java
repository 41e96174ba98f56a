package dev.puri.client.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class StackFormTest {
    private static final BooleanSupplier NOT_ASKED = () -> {
        throw new AssertionError("an engine is looked for only when it matters");
    };

    @Test
    void usesTheProcessUnlessDockerIsRequested() {
        assertThat(StackForm.choose(null, true, NOT_ASKED)).isEqualTo(StackForm.EMBEDDED);
        assertThat(StackForm.choose(" ", true, NOT_ASKED)).isEqualTo(StackForm.EMBEDDED);
        assertThat(StackForm.choose("embedded", true, NOT_ASKED)).isEqualTo(StackForm.EMBEDDED);
        assertThat(StackForm.choose("Docker", true, () -> true)).isEqualTo(StackForm.DOCKER);
    }

    @Test
    void usesDockerIfTheJarsAreMissing() {
        assertThat(StackForm.choose(null, false, () -> true)).isEqualTo(StackForm.DOCKER);
    }

    @Test
    void aMissingFormIsNamedWithItsRemedy() {
        assertThatThrownBy(() -> StackForm.choose(null, false, () -> false))
                .isInstanceOf(RegistryStartException.class)
                .hasMessageContaining("dev.puri:client-testing-stack")
                .hasMessageContaining("testcontainers-kafka");
        assertThatThrownBy(() -> StackForm.choose("docker", true, () -> false))
                .hasMessageContaining("a Docker engine that answers");
        assertThatThrownBy(() -> StackForm.choose("embedded", false, NOT_ASKED))
                .hasMessageContaining("dev.puri:client-testing-stack");
        assertThatThrownBy(() -> StackForm.choose("podman", true, NOT_ASKED))
                .hasMessage("PURI_TEST_STACK must be embedded or docker, not \"podman\"");
    }
}
