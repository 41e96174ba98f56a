package dev.puri.benchmarks.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.benchmarks.BenchRun;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** The whole measurement with real servers, too short to measure anything. */
class ClientBenchIT {
    /** Reports have four digits. */
    private static final Percentage ROUNDING = Percentage.withPercentage(0.2);

    private static final String LIBRARIES = "java-uuid-generator and jnanoid, the same ids as text";
    private static final String PUBLISHED = "publish → resolvable, without an outbox";
    private static final String HTTP_CLIENT = "the JDK's HttpClient, same request, answer not parsed";
    private static final String CAFFEINE = "Caffeine's getIfPresent";
    private static final String HASH_MAP = "ConcurrentHashMap of all verdicts";

    private static final Map<String, String> BASELINES = Map.ofEntries(
            Map.entry("mint, uuid", LIBRARIES),
            Map.entry("mint, sortable", LIBRARIES + ", unordered within a millisecond"),
            Map.entry("mint, nanoid", LIBRARIES),
            Map.entry("mint, natural key", LIBRARIES),
            Map.entry("publish, events", "bare KafkaProducer, same bytes"),
            Map.entry("publish, events, beside a producer that encodes", "bare KafkaProducer, Avro's writer"),
            Map.entry("publishAll of 1,000, events", "bare KafkaProducer, same bytes, batches of 1,000"),
            Map.entry("outbox.add → resolvable at 20 events/s, polling relay p50", PUBLISHED),
            Map.entry("outbox.add → resolvable at 20 events/s, polling relay p99", PUBLISHED),
            Map.entry("outbox.add → resolvable at 20 events/s, Debezium relay p50", PUBLISHED),
            Map.entry("outbox.add → resolvable at 20 events/s, Debezium relay p99", PUBLISHED),
            Map.entry("HTTP look-up p50", HTTP_CLIENT),
            Map.entry("HTTP look-up p99", HTTP_CLIENT),
            Map.entry("HTTP look-up of 100 mixed refs p50", HTTP_CLIENT),
            Map.entry("HTTP look-up of 100 mixed refs p99", HTTP_CLIENT),
            Map.entry("embedded look-up p50", HASH_MAP),
            Map.entry("embedded look-up p99", HASH_MAP),
            Map.entry("embedded look-up, skewed p50", HASH_MAP),
            Map.entry("embedded look-up, skewed p99", HASH_MAP),
            Map.entry("embedded look-up by handle p50", HASH_MAP),
            Map.entry("embedded look-up by handle p99", HASH_MAP),
            Map.entry("cache hit p50", CAFFEINE),
            Map.entry("cache hit p99", CAFFEINE),
            Map.entry("cache hit mean", CAFFEINE));

    private static final List<String> ALONE = List.of(
            "outbox, backlog of 3,000 events relayed",
            "commit → resolvable at 20 events/s, polling relay p50",
            "commit → resolvable at 20 events/s, polling relay p99",
            "commit → resolvable at 20 events/s, Debezium relay p50",
            "commit → resolvable at 20 events/s, Debezium relay p99",
            "export of 2,000 rows, ndjson",
            "export of 2,000 rows, ndjson: size",
            "export of 2,000 rows, avro",
            "export of 2,000 rows, avro: size",
            "of these, two readings of the clock p50");

    @Test
    void everyPartIsMeasuredWithItsBaseline() throws Exception {
        Map<String, JsonNode> figures = measure(
                "--rows=2000",
                "--rounds=1",
                "--minted=1000",
                "--events=2500",
                "--backlog=3000",
                "--rate=20",
                "--seconds=3",
                "--look-ups=50");

        List<String> all = new ArrayList<>(BASELINES.keySet());
        all.addAll(ALONE);
        assertThat(figures.keySet()).containsExactlyInAnyOrderElementsOf(all);
        figures.forEach((name, figure) -> {
            double ours = figure.get("ours").doubleValue();
            assertThat(figure.get("baseline").textValue()).as(name).isEqualTo(BASELINES.get(name));
            if (BASELINES.containsKey(name)) {
                double theirs = figure.get("theirs").doubleValue();
                assertThat(theirs).as(name).isPositive();
                assertThat(figure.get("ratio").doubleValue()).as(name).isCloseTo(ours / theirs, ROUNDING);
            }
            if (name.endsWith(" p99")) {
                JsonNode median = figures.get(name.replace(" p99", " p50"));
                assertThat(ours)
                        .as(name)
                        .isGreaterThanOrEqualTo(median.get("ours").doubleValue());
            }
            if (name.startsWith("commit → ")) {
                JsonNode withTransaction = figures.get(name.replace("commit → ", "outbox.add → "));
                assertThat(ours)
                        .as(name)
                        .isLessThanOrEqualTo(withTransaction.get("ours").doubleValue());
            }
        });
    }

    @Test
    void partsAreMeasuredAlone() throws Exception {
        assertThat(measure("--only=mint", "--rounds=1", "--minted=100"))
                .containsOnlyKeys("mint, uuid", "mint, sortable", "mint, nanoid", "mint, natural key");
    }

    private static Map<String, JsonNode> measure(String... options) throws IOException {
        Map<String, JsonNode> figures = new LinkedHashMap<>();
        for (JsonNode figure : BenchRun.of("client", options).figures()) {
            assertThat(figures.put(figure.get("name").textValue(), figure))
                    .as("figures of one name")
                    .isNull();
        }
        return figures;
    }
}
