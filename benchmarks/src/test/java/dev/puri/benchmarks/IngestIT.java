package dev.puri.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The whole harness on a real broker, too short to measure anything. */
class IngestIT {
    @Test
    void everyFigureIsThereInTheFormatOfAllBenchmarks() throws Exception {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = Main.run(
                new PrintWriter(out),
                new PrintWriter(err),
                "ingest",
                "-o",
                "json",
                "--events=3000",
                "--forks=1",
                "--warm-up=1",
                "--rounds=1",
                "--rate=100",
                "--seconds=2");

        assertThat(status).as(err.toString()).isZero();
        JsonNode report = new ObjectMapper().readTree(out.toString());
        assertThat(names(report)).containsExactly("bench", "machine", "results");
        assertThat(report.get("bench").textValue()).isEqualTo("ingest");
        assertThat(report.get("machine").textValue()).contains("Java").contains("load average");
        assertThat(report.get("results").findValuesAsText("name"))
                .containsExactly(
                        "events through the topology",
                        "processor time for each event, broker included",
                        "lone client p50",
                        "lone client p99",
                        "lone client p50, without handles",
                        "lone client p99, without handles",
                        "published to resolvable p50",
                        "published to resolvable p99",
                        "published to resolvable p50, without handles",
                        "published to resolvable p99, without handles",
                        "idle topology, processor time");
        for (JsonNode figure : report.get("results")) {
            assertThat(names(figure)).containsExactly("name", "unit", "ours", "baseline", "theirs", "ratio");
            assertThat(figure.get("ours").doubleValue()).isPositive();
        }
        JsonNode throughput = report.get("results").get(0);
        assertThat(throughput.get("unit").textValue()).isEqualTo("1/s");
        assertThat(throughput.get("baseline").textValue()).isEqualTo("bare Kafka Streams job");
        assertThat(throughput.get("theirs").doubleValue()).isPositive();
        assertThat(throughput.get("ratio").doubleValue()).isPositive();
        JsonNode latency = report.get("results").get(2);
        assertThat(latency.get("unit").textValue()).isEqualTo("ms");
        assertThat(latency.get("theirs").isNull()).isTrue();
        assertThat(latency.get("ratio").isNull()).isTrue();
    }

    private static List<String> names(JsonNode object) {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }
}
