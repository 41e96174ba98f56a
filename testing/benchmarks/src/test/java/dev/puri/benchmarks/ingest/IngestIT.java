package dev.puri.benchmarks.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.benchmarks.BenchRun;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The whole harness on a real broker, too short to measure anything. */
class IngestIT {
    @Test
    void everyFigureIsReportedInTheFormatOfAllBenchmarks() throws Exception {
        BenchRun run = BenchRun.of(
                "ingest", "--events=3000", "--forks=1", "--warm-up=1", "--rounds=1", "--rate=100", "--seconds=2");

        JsonNode report = run.report();
        assertThat(names(report)).containsExactly("bench", "machine", "results");
        assertThat(run.names())
                .containsExactly(
                        "events through the topology",
                        "processor time for each event, broker included",
                        "digest: hash of a row",
                        "lone client p50",
                        "lone client p99",
                        "lone client p50, without handles",
                        "lone client p99, without handles",
                        "published to resolvable p50",
                        "published to resolvable p99",
                        "published to resolvable p50, without handles",
                        "published to resolvable p99, without handles",
                        "idle topology, processor time");
        for (JsonNode figure : run.figures()) {
            assertThat(names(figure)).containsExactly("name", "unit", "ours", "baseline", "theirs", "ratio");
        }
        JsonNode throughput = run.figures().get(0);
        assertThat(throughput.get("unit").textValue()).isEqualTo("1/s");
        assertThat(throughput.get("baseline").textValue()).isEqualTo("bare Kafka Streams job");
        assertThat(throughput.get("theirs").doubleValue()).isPositive();
        assertThat(throughput.get("ratio").doubleValue()).isPositive();
        JsonNode latency = run.figures().get(3);
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
