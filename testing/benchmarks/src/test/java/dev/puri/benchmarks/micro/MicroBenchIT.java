package dev.puri.benchmarks.micro;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.benchmarks.BenchRun;
import dev.puri.benchmarks.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Every JMH benchmark once, in this process and too shortly to measure anything. */
class MicroBenchIT {
    /** JMH refuses to run while another instance runs on the machine, because figures would be wrong. */
    private static final String IGNORE_LOCK = "jmh.ignoreLock";

    @BeforeAll
    static void ignoreOthers() {
        System.setProperty(IGNORE_LOCK, "true");
    }

    @AfterAll
    static void forget() {
        System.clearProperty(IGNORE_LOCK);
    }

    @Test
    void everyBenchmarkRunsAndIsReported() throws Exception {
        BenchRun run =
                BenchRun.of("micro", "-v", "silent", "-f", "0", "-wi", "0", "-i", "1", "-r", "1ms", "-p", "rows=2000");

        assertThat(run.names())
                .containsExactlyInAnyOrder(
                        "AvroBenchmark.readEvent",
                        "AvroBenchmark.readEventByAvro",
                        "AvroBenchmark.writeEvent",
                        "AvroBenchmark.writeEventByAvro",
                        "AvroBenchmark.writeRow",
                        "AvroBenchmark.writeRowByAvro",
                        "BatchBenchmark.answer, rows=2000",
                        "CodecBenchmark.decode, rows=2000",
                        "CodecBenchmark.decodeByPuri, rows=2000",
                        "CodecBenchmark.encode, rows=2000",
                        "CodecBenchmark.encodeFromTopic, rows=2000",
                        "LookUpBenchmark.byHandle, rows=2000",
                        "LookUpBenchmark.byHandleMissing, rows=2000",
                        "LookUpBenchmark.byHandleSkewed, rows=2000",
                        "LookUpBenchmark.byPuri, rows=2000",
                        "LookUpBenchmark.byPuriMissing, rows=2000",
                        "LookUpBenchmark.byPuriSkewed, rows=2000",
                        "LookUpBenchmark.scanOfAllRows, rows=2000",
                        "PutBenchmark.insert, rows=2000",
                        "PutBenchmark.update, rows=2000");
        for (JsonNode figure : run.figures()) {
            assertThat(figure.get("unit").textValue()).isEqualTo("ns/op");
        }
    }

    @Test
    void argumentsThatJmhRefusesAreUsageErrors() {
        StringWriter err = new StringWriter();

        assertThat(Main.run(new PrintWriter(new StringWriter()), new PrintWriter(err), "micro", "--nosuch"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("nosuch");
    }
}
