package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ReachedTest {
    @Test
    void whatIsPrintedIsReadAgain() {
        Reached reached = new Reached(
                Map.of(Kind.IDENTITY, "x-_Yw", Kind.DOCUMENT, "zz"),
                Map.of(Kind.IDENTITY, Map.of(0, 12L, 11, 4_400_000_000L), Kind.DOCUMENT, Map.of()),
                Instant.parse("2026-11-20T10:00:00.123Z"),
                true,
                Instant.parse("2026-11-20T09:00:00Z"));

        assertThat(Reached.parse(reached.toString())).isEqualTo(reached);
        assertThat(reached)
                .hasToString("1;2026-11-20T10:00:00.123Z;complete;2026-11-20T09:00:00Z"
                        + ";IDENTITY=x-_Yw@0:12,11:4400000000;DOCUMENT=zz@");
        assertThat(Reached.parse(Reached.NOTHING.toString())).isEqualTo(Reached.NOTHING);
    }

    @Test
    void anotherFormIsRefused() {
        for (String text :
                new String[] {"", "2;x", "1;2026-11-20T10:00:00Z;complete", "1;y;part;-", "1;2026;part;-;A=b"}) {
            assertThatThrownBy(() -> Reached.parse(text)).hasMessageContaining("how far an index goes");
        }
    }
}
