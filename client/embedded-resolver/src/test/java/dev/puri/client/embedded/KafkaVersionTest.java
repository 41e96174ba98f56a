package dev.puri.client.embedded;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class KafkaVersionTest {
    @Test
    void refusesVersionsOfSpringBootAndNamesTheProperty() {
        assertThatThrownBy(() -> KafkaVersion.require("3.9.1", "4.1.1"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll(
                        "4.3 or newer",
                        "kafka-clients 3.9.1",
                        "kafka-streams 4.1.1",
                        "<kafka.version>",
                        "ext['kafka.version']");
    }

    @Test
    void oneOldJarIsEnough() {
        assertThatThrownBy(() -> KafkaVersion.require("4.1.1", "4.3.1"))
                .hasMessageContaining("kafka-clients 4.1.1")
                .hasMessageNotContaining("kafka-clients 4.1.1 and");
    }

    @Test
    void confluentsBuildsAreComparedByKafkasVersion() {
        assertThatThrownBy(() -> KafkaVersion.require("8.2.0-ccs", "8.2.0-ccs"))
                .hasMessageContaining("kafka-clients 8.2.0-ccs");
        assertThatCode(() -> KafkaVersion.require("8.3.0-ccs", "8.3.0-ccs")).doesNotThrowAnyException();
    }

    @Test
    void acceptsNewEnoughAndUnknownVersions() {
        assertThatCode(() -> KafkaVersion.require("4.3.0", "4.10.0-SNAPSHOT")).doesNotThrowAnyException();
        assertThatCode(() -> KafkaVersion.require("10.0.0", null)).doesNotThrowAnyException();
        assertThatCode(() -> KafkaVersion.require(null, "unknown")).doesNotThrowAnyException();
    }

    @Test
    void theJarsOfThisBuildPass() {
        assertThatCode(KafkaVersion::requireMinVersion).doesNotThrowAnyException();
    }
}
