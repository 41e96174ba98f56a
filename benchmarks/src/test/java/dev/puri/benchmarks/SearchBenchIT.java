package dev.puri.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The whole comparison on a real broker and schema registry, too short to measure anything. */
class SearchBenchIT {
    private static final String INDEXED = "documents indexed/s from the topic";
    private static final String QUERIED = "mixed query with facets, 1,000 documents, queries/s";
    private static final String SEARCHABLE = "published → searchable at 100 events/s";

    @Test
    void everyRowOfTheTableIsThereWithItsBaselines() throws Exception {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = Main.run(
                new PrintWriter(out),
                new PrintWriter(err),
                "search",
                "-o",
                "json",
                "--documents=1000",
                "--fills=1",
                "--queries=40",
                "--rounds=1",
                "--seconds=2",
                "--rate=100",
                "--fresh-seconds=2");

        assertThat(status).as(err.toString()).isZero();
        JsonNode report = new ObjectMapper().readTree(out.toString());
        assertThat(report.get("bench").textValue()).isEqualTo("search");
        JsonNode results = report.get("results");
        List<String> names = new ArrayList<>(List.of("documents", INDEXED, "reindex of 1,000 documents", QUERIED));
        if (Program.WRK.isInstalled()) {
            names.add(QUERIED + ", over HTTP, 32 connections");
        }
        names.addAll(List.of(SEARCHABLE + ", p50", SEARCHABLE + ", p99"));
        assertThat(results.findValuesAsText("name").stream().distinct()).containsExactlyElementsOf(names);
        assertThat(baselines(results, INDEXED))
                .containsExactly(
                        "bare IndexWriter loop, same entries and analyser",
                        "bare IndexWriter loop, same entries and analyser, as many threads as ours");
        assertThat(baselines(results, QUERIED))
                .containsExactly(
                        "bare IndexSearcher, same query made beforehand, hits left as numbers",
                        "bare IndexSearcher, same query made each time, hits' stored bytes read");
        assertThat(baselines(results, "reindex of 1,000 documents")).containsExactly("first indexing");
        for (JsonNode figure : results) {
            assertThat(figure.get("ours").doubleValue()).as(figure.toString()).isPositive();
            assertThat(figure.get("theirs").isNull())
                    .isEqualTo(figure.get("baseline").isNull());
        }
    }

    private static List<String> baselines(JsonNode results, String name) {
        List<String> baselines = new ArrayList<>();
        for (JsonNode figure : results) {
            if (figure.get("name").textValue().equals(name)
                    && !figure.get("ratio").isNull()) {
                baselines.add(figure.get("baseline").textValue());
            }
        }
        return baselines;
    }
}
