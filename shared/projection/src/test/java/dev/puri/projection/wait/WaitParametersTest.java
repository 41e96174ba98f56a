package dev.puri.projection.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.http.RefusedException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class WaitParametersTest {
    @ParameterizedTest
    @ValueSource(strings = {"-PT5S", "999999999999999d", "31s", "soon", ""})
    void refusesAWaitThatIsNegativeOrTooLongOrNoDuration(String text) {
        WaitParameters parameters = new WaitParameters(Duration.ofSeconds(30));

        assertThatThrownBy(() -> parameters.parseWait(text))
                .isInstanceOf(RefusedException.class)
                .hasMessage("wait must be a duration such as 2s or 500ms, at most 30000 ms.");
    }

    @Test
    void parsesAWaitUpToTheMaximum() throws Exception {
        WaitParameters parameters = new WaitParameters(Duration.ofSeconds(30));

        assertThat(parameters.parseWait("30s")).isEqualTo(Duration.ofSeconds(30));
        assertThat(parameters.parseWait(null)).isZero();
    }
}
