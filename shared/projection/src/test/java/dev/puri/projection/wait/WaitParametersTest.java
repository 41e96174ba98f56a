package dev.puri.projection.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.http.RefusedException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class WaitParametersTest {
    @ParameterizedTest
    @CsvSource({
        "the token 3-7 is of another object: that one, The token 3-7 is of another object: that one.",
        "music:tracks:1 is held by catalog, music:tracks:1 is held by catalog.",
        "deleted, Deleted.",
        "music:tracks:1, music:tracks:1.",
    })
    void aSentenceBeginsWithACapitalUnlessItBeginsWithAName(String text, String sentence) {
        assertThat(WaitParameters.sentence(text)).isEqualTo(sentence);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-PT5S", "999999999999999d", "31s", "soon", ""})
    void refusesAWaitThatIsNegativeOrTooLongOrNoDuration(String text) {
        WaitParameters parameters = new WaitParameters(Duration.ofSeconds(30));

        assertThatThrownBy(() -> parameters.wait(text))
                .isInstanceOf(RefusedException.class)
                .hasMessage("wait must be a duration such as 2s or 500ms, at most 30000 ms.");
    }

    @Test
    void parsesAWaitUpToTheMaximum() throws Exception {
        WaitParameters parameters = new WaitParameters(Duration.ofSeconds(30));

        assertThat(parameters.wait("30s")).isEqualTo(Duration.ofSeconds(30));
        assertThat(parameters.wait(null)).isZero();
    }
}
