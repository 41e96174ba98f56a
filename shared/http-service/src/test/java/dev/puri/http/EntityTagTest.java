package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class EntityTagTest {
    private static final String TAG = "\"a1\"";

    @Test
    void matchesTheSameTagStrongOrWeakInAnyLine() {
        assertThat(EntityTag.matches(List.of(TAG), TAG)).isTrue();
        assertThat(EntityTag.matches(List.of("W/" + TAG), TAG)).isTrue();
        assertThat(EntityTag.matches(List.of("\"b2\"", "\"c3\" , " + TAG), TAG)).isTrue();
        assertThat(EntityTag.matches(List.of("*"), TAG)).isTrue();
    }

    @Test
    void doesNotMatchOtherTags() {
        assertThat(EntityTag.matches(List.of(), TAG)).isFalse();
        assertThat(EntityTag.matches(List.of("", "\"b2\", a1"), TAG)).isFalse();
    }
}
