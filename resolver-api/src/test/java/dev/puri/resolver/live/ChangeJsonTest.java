package dev.puri.resolver.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.resolver.table.TableStats;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.io.StringWriter;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
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

    @Test
    void statsNameTheLargestAndCountTheRest() throws Exception {
        Map<String, Long> collections = new HashMap<>(Map.of("a:b", 7L, "a:a", 7L, "a:c", 9L));
        for (int i = 0; i < StatsView.MAX_LISTED; i++) {
            collections.put("x:" + i, 8L);
        }
        TableStats stats = new TableStats(
                20,
                5,
                collections,
                Map.of("catalog", 20L),
                Map.of("br-1", 20L),
                Map.of(Row.Status.ACTIVE, 19L, Row.Status.DELETED, 1L),
                4_096,
                1_024,
                0.51234);
        StringWriter text = new StringWriter();
        try (JsonGenerator json = JsonFactory.builder().build().createGenerator(text)) {
            StatsView.write(json, stats, 3L, Duration.ofMillis(1_250));
        }
        assertThat(text.toString())
                .startsWith(
                        "{\"rows\":20,\"handles\":5,\"byStatus\":{\"active\":19,\"merged\":0,\"deleted\":1},"
                                + "\"collections\":1003,\"byCollection\":[{\"name\":\"a:c\",\"rows\":9},{\"name\":\"x:0\",\"rows\":8},")
                .doesNotContain("\"a:a\"")
                .endsWith("\"shards\":1,\"byShard\":[{\"name\":\"br-1\",\"rows\":20}],\"memory\":{\"bytes\":4096,"
                        + "\"bytesInUse\":1024,\"load\":0.512},\"lag\":{\"records\":3,\"ageSeconds\":1.25}}");
    }
}
