package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigRuleTest {
    @ParameterizedTest
    @CsvSource({
        "retention.ms, 2592000000, 86400000, 2592000000, at least 86400000 and at most 2592000000",
        "max.message.bytes, 1048588, 262144, 1048588, at least 262144 and at most 1048588",
        "segment.ms, 86400000, 0, 86400000, at most 86400000",
        "max.compaction.lag.ms, 86400000, 0, 86400000, at most 86400000",
        "delete.retention.ms, 604800000, 604800000, 1209600000, at least 604800000 and at most 1209600000",
    })
    void allowsValuesBetweenTwoLimits(String config, String created, long min, long max, String expectation) {
        ConfigRule rule = ConfigRule.of(config, created);

        assertThat(rule.allows(created)).isTrue();
        assertThat(rule.allows(Long.toString(min))).isTrue();
        assertThat(rule.allows(Long.toString(min - 1))).isFalse();
        assertThat(rule.allows(Long.toString(max))).isTrue();
        assertThat(rule.allows(Long.toString(max + 1))).isFalse();
        assertThat(rule.expectation()).isEqualTo(expectation);
    }

    @ParameterizedTest
    @CsvSource({"min.compaction.lag.ms, 300000", "min.insync.replicas, 2"})
    void allowsLargerValuesThanTheCreatedOne(String config, long created) {
        ConfigRule rule = ConfigRule.of(config, Long.toString(created));

        assertThat(rule.allows(Long.toString(created))).isTrue();
        assertThat(rule.allows("100000000000000000")).isTrue();
        assertThat(rule.allows(Long.toString(created - 1))).isFalse();
        assertThat(rule.expectation()).isEqualTo("at least " + created);
    }

    @ParameterizedTest
    @CsvSource(value = {"-1", "''", "9223372036854775808", "1e3"})
    void allowsNoTextThatIsNotANumberWithinKafkasRange(String actual) {
        assertThat(ConfigRule.of("segment.ms", "86400000").allows(actual)).isFalse();
        assertThat(ConfigRule.LARGEST_RECORD.allows(actual)).isFalse();
    }

    @Test
    void anyOtherConfigMustHaveTheCreatedValue() {
        ConfigRule rule = ConfigRule.of("cleanup.policy", "compact");

        assertThat(rule.allows("compact")).isTrue();
        assertThat(rule.allows("compact,delete")).isFalse();
        assertThat(rule.expectation()).isEqualTo("compact");
    }
}
