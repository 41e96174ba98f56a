package dev.puri.testkit;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BrokerFormTest {
    private final String before = System.getProperty(Broker.FORM_PROPERTY, "");

    @BeforeEach
    void setUnknownForm() {
        System.setProperty(Broker.FORM_PROPERTY, "podman");
    }

    @AfterEach
    void restoreForm() {
        System.setProperty(Broker.FORM_PROPERTY, before);
    }

    @Test
    void anUnknownFormIsRefusedByName() {
        assertThatThrownBy(Broker::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("-Dpuri.broker must be embedded or docker, not podman");
    }
}
