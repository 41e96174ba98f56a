package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class RecordViewTest {
    private static final String TRACK = "soundcloud:tracks:1";
    private static final String HANDLE = "trk_4k7vx9tz2nqr8w3";

    private final RecordView view;

    RecordViewTest() {
        PackedTable table = new PackedTable();
        table.put(Puri.parse(TRACK), SomeRows.active("br-1", new Handle(HANDLE)));
        view = table.newView();
    }

    @Test
    void prefetchOfHandlesReadsNoMemoryOfNames() {
        prefetchHandles(TRACK);
        assertThat(view.prefetched).isZero();

        prefetchHandles(HANDLE);
        assertThat(view.prefetched).isNotZero();

        view.prefetched = 0;
        view.prefetch(ascii(TRACK), new int[] {0, TRACK.length()}, 1);
        assertThat(view.prefetched).isNotZero();
    }

    private void prefetchHandles(String ref) {
        view.prefetched = 0;
        view.prefetchHandles(ascii(ref), new int[] {0, ref.length()}, 1);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
