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
    void ofHandlesAloneNoMemoryOfNamesIsRead() {
        touchHandles(TRACK);
        assertThat(view.touched).isZero();

        touchHandles(HANDLE);
        assertThat(view.touched).isNotZero();

        view.touched = 0;
        view.touch(ascii(TRACK), new int[] {0, TRACK.length()}, 1);
        assertThat(view.touched).isNotZero();
    }

    private void touchHandles(String ref) {
        view.touched = 0;
        view.touchHandles(ascii(ref), new int[] {0, ref.length()}, 1);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
