package dev.puri.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The whole measurement with real servers, of too little to measure anything. */
class ClientBenchIT {
    private static final List<String> WITH_BASELINE = List.of(
            "mint, uuid",
            "mint, sortable",
            "mint, nanoid",
            "mint, natural key",
            "publish, events",
            "publishAll of 1,000, events",
            "commit → resolvable at 20 events/s, polling relay p50",
            "commit → resolvable at 20 events/s, polling relay p99",
            "commit → resolvable at 20 events/s, Debezium relay p50",
            "commit → resolvable at 20 events/s, Debezium relay p99",
            "HTTP look-up p50",
            "HTTP look-up p99",
            "HTTP look-up of 100 mixed refs p50",
            "HTTP look-up of 100 mixed refs p99",
            "cache hit p50",
            "cache hit p99",
            "cache hit mean");

    private static final List<String> ALONE = List.of(
            "outbox, backlog of 3,000 events relayed",
            "export of 2,000 rows, ndjson",
            "export of 2,000 rows, ndjson: size",
            "export of 2,000 rows, avro",
            "export of 2,000 rows, avro: size",
            "embedded look-up p50",
            "embedded look-up p99",
            "embedded look-up, skewed p50",
            "embedded look-up, skewed p99",
            "embedded look-up by handle p50",
            "embedded look-up by handle p99",
            "of these, two readings of the clock p50");

    @Test
    void everyPartIsMeasuredBesideItsBaseline() throws Exception {
        Map<String, JsonNode> figures = measure(
                "--rows=2000",
                "--rounds=1",
                "--minted=1000",
                "--events=2500",
                "--backlog=3000",
                "--rate=20",
                "--seconds=3",
                "--look-ups=50");

        List<String> all = new ArrayList<>(WITH_BASELINE);
        all.addAll(ALONE);
        assertThat(figures.keySet()).containsExactlyInAnyOrderElementsOf(all);
        figures.forEach((name, figure) -> {
            assertThat(figure.get("ours").doubleValue()).as(name).isPositive();
            assertThat(figure.get("baseline").isTextual()).as(name).isEqualTo(WITH_BASELINE.contains(name));
            if (WITH_BASELINE.contains(name)) {
                assertThat(figure.get("theirs").doubleValue()).as(name).isPositive();
                assertThat(figure.get("ratio").doubleValue()).as(name).isPositive();
            }
            if (name.endsWith(" p99")) {
                JsonNode median = figures.get(name.replace(" p99", " p50"));
                assertThat(figure.get("ours").doubleValue())
                        .as(name)
                        .isGreaterThanOrEqualTo(median.get("ours").doubleValue());
            }
        });
    }

    @Test
    void partsAreMeasuredAlone() throws Exception {
        assertThat(measure("--only=mint", "--rounds=1", "--minted=100"))
                .containsOnlyKeys("mint, uuid", "mint, sortable", "mint, nanoid", "mint, natural key");
    }

    private static Map<String, JsonNode> measure(String... options) throws IOException {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        List<String> arguments = new ArrayList<>(List.of("client", "-o", "json"));
        arguments.addAll(List.of(options));
        int status = Main.run(new PrintWriter(out), new PrintWriter(err), arguments.toArray(String[]::new));

        assertThat(status).as(err.toString()).isZero();
        JsonNode report = new ObjectMapper().readTree(out.toString());
        assertThat(report.get("bench").textValue()).isEqualTo("client");
        assertThat(report.get("machine").textValue()).contains("Java").contains("load average");
        Map<String, JsonNode> figures = new LinkedHashMap<>();
        for (JsonNode figure : report.get("results")) {
            assertThat(figures.put(figure.get("name").textValue(), figure))
                    .as("figures of one name")
                    .isNull();
        }
        return figures;
    }
}
