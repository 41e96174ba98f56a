package dev.puri.schemas.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OwnerOrShardNameTest {
    @ParameterizedTest
    @ValueSource(strings = {"a", "catalog", "Catalog-2", "team/catalog@eu", "a.b_c~d:e+f"})
    void ownersAndShardsKeepTheirText(String text) {
        assertThat(Owner.parse(text)).hasToString(text);
        assertThat(Shard.parse(text)).hasToString(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a b", "a\n", "ä", "a%20", "a,b", "a\u0000"})
    void otherTextIsRefused(String text) {
        assertThatThrownBy(() -> Owner.parse(text))
                .isInstanceOfSatisfying(
                        InvalidNameException.class, e -> assertThat(e.rule()).isEqualTo(NameRule.BAD_OWNER))
                .hasMessageContaining("an owner");
        assertThatThrownBy(() -> Shard.parse(text))
                .isInstanceOfSatisfying(
                        InvalidNameException.class, e -> assertThat(e.rule()).isEqualTo(NameRule.BAD_SHARD))
                .hasMessageContaining("a shard");
    }

    @Test
    void sixtyThreeCharactersAtMost() {
        assertThat(Owner.parse("o".repeat(63)).text()).hasSize(63);
        assertThatThrownBy(() -> Owner.parse("o".repeat(64)))
                .isInstanceOf(InvalidNameException.class)
                .hasMessageContaining("this text has 64");
    }

    @Test
    void caseCounts() {
        assertThat(Owner.parse("Catalog")).isNotEqualTo(Owner.parse("catalog"));
        assertThat(Shard.parse("BR-1")).isNotEqualTo(Shard.parse("br-1"));
    }
}
