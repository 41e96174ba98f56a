package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class IndexCheckpointTest {
    @Test
    void parsesItsOwnText() {
        IndexCheckpoint checkpoint = new IndexCheckpoint(
                Map.of(EntryKind.IDENTITY, "x-_Yw", EntryKind.DOCUMENT, "zz"),
                Map.of(EntryKind.IDENTITY, Map.of(0, 12L, 11, 4_400_000_000L), EntryKind.DOCUMENT, Map.of()),
                Instant.parse("2026-11-20T10:00:00.123Z"),
                true,
                Instant.parse("2026-11-20T09:00:00Z"));

        assertThat(IndexCheckpoint.parse(checkpoint.toString())).isEqualTo(checkpoint);
        assertThat(checkpoint)
                .hasToString("1;2026-11-20T10:00:00.123Z;complete;2026-11-20T09:00:00Z"
                        + ";IDENTITY=x-_Yw@0:12,11:4400000000;DOCUMENT=zz@");
        assertThat(IndexCheckpoint.parse(IndexCheckpoint.NONE.toString())).isEqualTo(IndexCheckpoint.NONE);
    }

    @Test
    void rejectsAnotherFormat() {
        for (String text :
                new String[] {"", "2;x", "1;2026-11-20T10:00:00Z;complete", "1;y;part;-", "1;2026;part;-;A=b"}) {
            assertThatThrownBy(() -> IndexCheckpoint.parse(text))
                    .hasMessageContaining("not the checkpoint of an index");
        }
    }
}
