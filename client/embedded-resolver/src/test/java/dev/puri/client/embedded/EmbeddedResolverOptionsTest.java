package dev.puri.client.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class EmbeddedResolverOptionsTest {
    private static EmbeddedResolverOptions.Builder valid() {
        return EmbeddedResolverOptions.at("127.0.0.1:9092", "http://127.0.0.1:8081/apis/ccompat/v7", Path.of("state"));
    }

    @Test
    void defaultsAreThoseOfAResolver() {
        EmbeddedResolverOptions options = valid().build();

        assertThat(options.maxLag()).isEqualTo(10_000);
        assertThat(options.maxLagAge()).isEqualTo(Duration.ofSeconds(30));
        assertThat(options.snapshotInterval()).isEqualTo(Duration.ofMinutes(10));
        assertThat(options.maxPending()).isEqualTo(10_000);
        assertThat(options.refusals()).isEqualTo(100_000);
        assertThat(options.kafka()).isEmpty();
    }

    @Test
    void allMistakesAreListed() {
        assertThatThrownBy(() -> EmbeddedResolverOptions.at(" ", "schemas:8081", Path.of("state"))
                        .kafka(Map.of("bootstrap.servers", "elsewhere:9092", "schema.registry.url", "http://elsewhere"))
                        .snapshotInterval(Duration.ZERO)
                        .maxPending(0)
                        .maxLag(-1)
                        .maxLagAge(Duration.ofSeconds(1))
                        .refusals(0)
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(
                        "bootstrapServers: none",
                        "schemaRegistry: schemas:8081 is no URL",
                        "kafka: bootstrap.servers has an option of its own",
                        "kafka: schema.registry.url has an option of its own",
                        "snapshotInterval: PT0S",
                        "maxPending: 0",
                        "maxLag: -1",
                        "maxLagAge: PT1S",
                        "refusals: 0");
    }

    @Test
    void aTextOfThemHasNoSecrets() {
        String secret = "org.apache.kafka.common.security.plain.PlainLoginModule required password=hidden;";

        assertThat(valid().kafka(Map.of("sasl.jaas.config", secret)).build().toString())
                .contains("sasl.jaas.config")
                .doesNotContain("hidden");
    }
}
