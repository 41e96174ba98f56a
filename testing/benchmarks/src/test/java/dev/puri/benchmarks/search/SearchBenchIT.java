package dev.puri.benchmarks.search;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.benchmarks.BenchRun;
import dev.puri.benchmarks.environment.Program;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The whole comparison on a real broker and schema registry, too short to measure anything. */
class SearchBenchIT {
    private static final String INDEXED = "documents indexed/s from the topic";
    private static final String QUERIED = "mixed query with facets, 1,000 documents, queries/s";
    private static final String SEARCHABLE = "published → searchable at 100 events/s";

    @Test
    void everyRowOfTheTableIsReportedWithItsBaselines() throws Exception {
        BenchRun run = BenchRun.of(
                "search",
                "--documents=1000",
                "--fills=1",
                "--queries=40",
                "--rounds=1",
                "--seconds=2",
                "--rate=100",
                "--fresh-seconds=2");

        List<String> names = new ArrayList<>(List.of("documents", INDEXED, "reindex of 1,000 documents", QUERIED));
        if (Program.WRK.isInstalled()) {
            names.add(QUERIED + ", over HTTP, 32 connections");
        }
        names.addAll(List.of(SEARCHABLE + ", p50", SEARCHABLE + ", p99"));
        assertThat(run.names().stream().distinct()).containsExactlyElementsOf(names);
        assertThat(run.baselines(INDEXED))
                .containsExactly(
                        "bare IndexWriter loop, same entries and analyser",
                        "bare IndexWriter loop, same entries and analyser, as many threads as ours");
        assertThat(run.baselines(QUERIED))
                .containsExactly(
                        "bare IndexSearcher, same query made beforehand, hits left as numbers",
                        "bare IndexSearcher, same query made each time, hits' stored bytes read");
        assertThat(run.baselines("reindex of 1,000 documents")).containsExactly("first indexing");
        for (JsonNode figure : run.figures()) {
            assertThat(figure.get("theirs").isNull())
                    .isEqualTo(figure.get("baseline").isNull());
        }
    }
}
