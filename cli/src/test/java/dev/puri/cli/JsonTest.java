package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import org.junit.jupiter.api.Test;

class JsonTest {
    @Test
    void aSecondValueIsNotIgnored() {
        assertThat(Json.parse(" {\"a\":1}\n")).hasToString("{\"a\":1}");
        assertThatThrownBy(() -> Json.parse("{\"a\":1} {\"a\":2}")).isInstanceOf(UncheckedIOException.class);
        assertThatThrownBy(() -> Json.parse("1<html>")).isInstanceOf(UncheckedIOException.class);
    }
}
