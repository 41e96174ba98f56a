package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Puri;
import org.junit.jupiter.api.Test;

final class HeardTest {
    private static final Puri TRACK = Puri.parse("soundcloud:tracks:1");

    @Test
    void whatIsForgottenWasNotWrittenBeforeItCame() {
        Heard heard = new Heard();
        long begun = System.nanoTime();
        heard.comes(TRACK);
        for (int i = 0; i < Heard.MOST; i++) {
            heard.comes(Puri.parse("soundcloud:users:" + i));
        }

        assertThat(heard.writtenBefore(TRACK) - begun).isNotNegative();
    }

    @Test
    void whatComesAgainWasWrittenLater() {
        Heard heard = new Heard();
        heard.comes(TRACK);
        long begun = System.nanoTime();
        heard.comes(TRACK);

        assertThat(heard.writtenBefore(TRACK) - begun).isNotNegative();
    }
}
