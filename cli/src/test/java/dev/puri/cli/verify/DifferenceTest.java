package dev.puri.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class DifferenceTest {
    @Test
    void textsOfForeignProducersCannotStartALineOrControlATerminal() {
        Difference difference = new Difference(
                "registrar",
                "puri.identities.v1",
                3,
                "music:tracks:\u001b[2K\r1",
                null,
                Difference.Kind.DIFFERS,
                Map.of("shard", new Difference.Field("br-1", "eu\u202e\n9")),
                "of a\u2028b\u0085");
        assertThat(difference)
                .hasToString("differs  registrar  puri.identities.v1-3  music:tracks:\\u001b[2K\\u000d1:"
                        + " shard eu\\u202e\\u000a9 instead of br-1, of a\\u2028b\\u0085");
    }
}
