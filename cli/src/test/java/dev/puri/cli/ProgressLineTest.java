package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ProgressLineTest {
    @Test
    void saysHowFastItIsAndHowLongItTakesStill() {
        assertThat(line(1_500, 500, 11_500L, 10)).isEqualTo("puri: 1,500 of 11,500 rows, 100/s, 2 min left");
        assertThat(line(2_000, 0, 3_000L, 10)).isEqualTo("puri: 2,000 of 3,000 rows, 200/s, 5 s left");
        assertThat(line(10_000, 0, 100_000_000L, 10))
                .isEqualTo("puri: 10,000 of 100,000,000 rows, 1,000/s, 27 h 47 min left");
        assertThat(line(1, 0, 1_000L, 10)).as("less than a row a second").contains("2 h 47 min left");
    }

    @Test
    void saysNoTimeLeftIfItIsNotKnown() {
        assertThat(line(2_000, 0, null, 10)).isEqualTo("puri: 2,000 rows, 200/s");
        assertThat(line(500, 500, 3_000L, 10)).isEqualTo("puri: 500 of 3,000 rows, 0/s");
    }

    @Test
    void aTotalThatWasTooSmallIsCorrected() {
        assertThat(line(2_000, 0, 1_999L, 10)).isEqualTo("puri: 2,000 of 2,000 rows, 200/s, 0 s left");
    }

    @Test
    void aMessageReplacesTheLineOfATerminal() {
        StringWriter err = new StringWriter();
        Console console = new Console(
                InputStream.nullInputStream(),
                new PrintWriter(new StringWriter()),
                new PrintWriter(err),
                Map.of(),
                false,
                true);
        console.showProgress("puri: 1 rows");
        console.say("puri: failed");
        assertThat(err).hasToString("\r\033[Kpuri: 1 rows\r\033[Kpuri: failed\n");
    }

    private static String line(long count, long firstCount, @Nullable Long total, int seconds) {
        return ProgressLine.line("rows", count, firstCount, total, Duration.ofSeconds(seconds));
    }
}
