package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.resolver.table.TableStats;
import dev.puri.schemas.log.Row;
import java.io.StringWriter;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class StatsJsonTest {
    @Test
    void namesTheLargestGroupsAndCountsAll() throws Exception {
        Map<String, Long> collections = new HashMap<>(Map.of("a:b", 7L, "a:a", 7L, "a:c", 9L));
        for (int i = 0; i < StatsJson.MAX_LISTED; i++) {
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
            StatsJson.write(json, stats, 3L, Duration.ofMillis(1_250));
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
