package dev.puri.benchmarks.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.benchmarks.BenchRun;
import org.junit.jupiter.api.Test;

/** Import and loops with real databases and a real broker, with too few rows to measure anything. */
class ImportBenchIT {
    @Test
    void importsAndCopiesTheSameRows() throws Exception {
        BenchRun run = BenchRun.of("import", "--rows=3000", "--registered=1000", "--rounds=1");

        assertThat(run.names())
                .containsExactly(
                        "import, plan and load",
                        "import, plan and load",
                        "import, load",
                        "import, load",
                        "import, plan",
                        "import, plan and load until all rows are registered",
                        "import, verify",
                        "import, plan of registered rows");
        assertThat(run.baselines("import, plan and load"))
                .containsExactly(
                        "COPY into a bare producer of ready events",
                        "COPY into a bare producer, events made by Avro's writer");
    }
}
