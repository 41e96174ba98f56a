package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class EventsTest {
    @Test
    void aSourceThatNoEventMayHaveIsRefused() {
        assertThatThrownBy(() -> new Events("a\tb"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("source must have 1 to 255 characters");
    }
}
