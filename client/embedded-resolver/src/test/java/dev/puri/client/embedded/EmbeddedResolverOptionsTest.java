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
        assertThat(options.maxRefusals()).isEqualTo(100_000);
        assertThat(options.checkRate()).isEqualTo(100_000);
        assertThat(options.kafka()).isEmpty();
    }

    @Test
    void listsAllMistakes() {
        assertThatThrownBy(() -> EmbeddedResolverOptions.at(" ", "schemas:8081", Path.of("state"))
                        .kafka(Map.of(
                                "bootstrap.servers",
                                "elsewhere:9092",
                                "schema.registry.url",
                                "http://elsewhere",
                                "max.retries",
                                "often",
                                "security.protocol",
                                "SSLL",
                                "global.consumer.fetch.max.bytes",
                                "many"))
                        .snapshotInterval(Duration.ZERO)
                        .maxPending(0)
                        .maxLag(-1)
                        .maxLagAge(Duration.ofSeconds(1))
                        .maxRefusals(0)
                        .checkRate(-1)
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(
                        "bootstrapServers: none",
                        "schemaRegistry: schemas:8081 is no URL",
                        "kafka: bootstrap.servers must not be set here, because it has an option of its own",
                        "kafka: schema.registry.url must not be set here, because it has an option of its own",
                        "schema registry: max.retries must be a whole number from 0 to 1000, not often",
                        "kafka: security.protocol: ",
                        "kafka: global.consumer.fetch.max.bytes: ",
                        "snapshotInterval: PT0S",
                        "maxPending: 0",
                        "maxLag: -1",
                        "maxLagAge: PT1S",
                        "maxRefusals: 0",
                        "checkRate: -1");
    }

    @Test
    void namesEveryInvalidBrokerAndSchemaRegistry() {
        assertThatThrownBy(() -> EmbeddedResolverOptions.at(
                                "kafka-1:9092,kafka-2,kafka-3:99999", "http://a,ftp://b,http://c?d=e", Path.of("state"))
                        .build())
                .hasMessageContainingAll(
                        "bootstrapServers: kafka-2 is not host:port",
                        "bootstrapServers: kafka-3:99999 is not host:port",
                        "schemaRegistry: ftp://b is no URL",
                        "schemaRegistry: http://c?d=e is no URL")
                .hasMessageNotContaining("kafka-1:9092 is");
    }

    @Test
    void acceptsSeveralSchemaRegistriesLikeConfluentsClient() {
        String urls = "http://schemas-1:8081, https://schemas-2:8081/apis/ccompat/v7";

        assertThat(EmbeddedResolverOptions.at("[::1]:9092, kafka-2:9092", urls, Path.of("state"))
                        .build()
                        .schemaRegistry())
                .isEqualTo(urls);
    }

    @Test
    void noCredentialOfAUrlIsPrinted() {
        assertThat(EmbeddedResolverOptions.at(
                                "127.0.0.1:9092",
                                "http://ann:hidden@schemas:8081,http://bob:hidden@b",
                                Path.of("state"))
                        .build()
                        .toString())
                .contains("http://***@schemas:8081,http://***@b")
                .doesNotContain("hidden");
        assertThatThrownBy(() -> EmbeddedResolverOptions.at("a:1", "ftp://ann:hidden@schemas", Path.of("state"))
                        .build())
                .hasMessageContaining("schemaRegistry: ftp://***@schemas is no URL")
                .hasMessageNotContaining("hidden");
        assertThatThrownBy(() -> EmbeddedResolverOptions.at("a:1", "http://ann:hid den@schemas", Path.of("state"))
                        .build())
                .hasMessageContaining("schemaRegistry: http://***@schemas is no URL")
                .hasMessageNotContaining("hid");
    }

    @Test
    void acceptsAnIntervalOfAnyLength() {
        Duration longest = Duration.ofSeconds(Long.MAX_VALUE);

        assertThat(valid().snapshotInterval(longest).maxLagAge(longest).build().snapshotInterval())
                .isEqualTo(longest);
    }

    @Test
    void toStringHasNoSecrets() {
        String secret = "org.apache.kafka.common.security.plain.PlainLoginModule required password=hidden;";

        assertThat(valid().kafka(Map.of("sasl.jaas.config", secret)).build().toString())
                .contains("sasl.jaas.config")
                .doesNotContain("hidden");
    }
}
