package dev.puri.benchmarks.table;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.benchmarks.BenchRun;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole comparison on a real broker, too short to measure anything. */
class TableBenchIT {
    @Test
    void everyFigureIsReportedWithItsBaseline() throws Exception {
        BenchRun run = BenchRun.of("table", "--rows=2000", "--gets=1000", "--rounds=1", "--fills=1");

        assertThat(run.names().stream().distinct())
                .containsExactly(
                        "identities",
                        "put, fresh rows",
                        "put, updates",
                        "take, fresh records",
                        "put, fresh rows, p99.99",
                        "put, fresh rows, longest",
                        "growth step, p99.9",
                        "longest growth step",
                        "restore from topic",
                        "digest: hash of a row",
                        "look-up beside a restore p99.9",
                        "look-up beside a restore, longest",
                        "get by pURI",
                        "get by handle",
                        "get by pURI, skewed",
                        "get by handle, skewed",
                        "get by pURI, not there",
                        "get by handle, not there",
                        "scan",
                        "get by pURI beside 50 k puts/s",
                        "get by pURI beside 50 k puts/s p99.9",
                        "get by pURI beside 50 k puts/s, longest",
                        "reopen after a clean stop, start() to ready",
                        "open a snapshot",
                        "write a snapshot",
                        "size of a snapshot, per row",
                        "bytes per identity, with the indexes by pURI and by handle");
        assertThat(run.baselines("restore from topic"))
                .containsExactly(
                        "global store RocksDB, tuned, each record decoded to a row",
                        "no-op global store, each record decoded to a row",
                        "GlobalKTable RocksDB, tuned, bytes as they are",
                        "no-op global store, bytes as they are",
                        "GlobalKTable in-memory store, bytes as they are");
        assertThat(run.baselines("get by pURI"))
                .containsExactly("GlobalKTable RocksDB", "LMDB", "java.util.HashMap of decoded rows");
        assertThat(run.baselines("get by handle"))
                .containsExactly("GlobalKTable RocksDB, handle map then row", "LMDB, handle map then row");
        assertThat(run.baselines("bytes per identity, with the indexes by pURI and by handle"))
                .containsExactly("in-memory store with a handle map", "LMDB with a handle map");
        for (JsonNode figure : run.figures()) {
            assertThat(figure.get("theirs").isNull())
                    .isEqualTo(figure.get("baseline").isNull());
        }
    }

    @Test
    void partsCanBeMeasuredAlone() throws Exception {
        BenchRun run = BenchRun.of("table", "--rows=2000", "--gets=1000", "--fills=1", "--only=reopen,bytes");

        assertThat(run.names())
                .containsExactly(
                        "identities",
                        "reopen after a clean stop, start() to ready",
                        "open a snapshot",
                        "write a snapshot",
                        "size of a snapshot, per row",
                        "bytes per identity, with the indexes by pURI and by handle",
                        "bytes per identity, with the indexes by pURI and by handle");
    }

    @Test
    void theCurveHasEachCostAtEachSizeAndAChart(@TempDir Path dir) throws Exception {
        Path chart = dir.resolve("cost.svg");
        BenchRun run = BenchRun.of("curve", "--rows=2000,5000", "--gets=1000", "--rounds=1", "--chart=" + chart);

        assertThat(run.names()).hasSize(2 * CurveBench.Cost.values().length);
        assertThat(run.names())
                .contains("get by pURI, at 2,000 rows", "get by pURI, at 5,000 rows", "scan, per row, at 5,000 rows");
        assertThat(Files.readString(chart)).startsWith("<svg").contains("get by handle", "5,000 rows");
    }
}
