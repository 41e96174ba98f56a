package dev.puri.resolver.live;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Puri;
import org.junit.jupiter.api.Test;

final class ChangeJsonTest {
    @Test
    void anEventHasTheWholeRow() {
        assertThat(ChangeJson.changed(Puri.parse("music:tracks:1"), LiveRows.row("br-1", 1042, "trk_4k7vx9tz2nqr8w3")))
                .isEqualTo("{\"puri\":\"music:tracks:1\",\"handle\":\"trk_4k7vx9tz2nqr8w3\",\"owner\":\"catalog\","
                        + "\"shard\":\"br-1\",\"uuid\":\"01970000-0000-7000-8000-000000000001\",\"status\":\"active\","
                        + "\"epoch\":3,\"createdAt\":\"2026-03-01T10:00:00.000Z\","
                        + "\"changedAt\":\"2026-03-02T10:00:00.120Z\",\"position\":\"3-1042\"}");
        assertThat(ChangeJson.changed(Puri.parse("music:tracks:1"), LiveRows.mergedInto("music:tracks:2")))
                .contains("\"mergedInto\":\"music:tracks:2\"", "\"status\":\"merged\"");
    }

    @Test
    void anErasureHasOnlyTheName() {
        assertThat(ChangeJson.erased(Puri.parse("music:tracks:1"))).isEqualTo("{\"puri\":\"music:tracks:1\"}");
    }
}
