package dev.puri.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

/** The whole measurement with a real resolver, of too few rows to measure anything. */
class ClientBenchIT {
    @Test
    void exportsAndEmbeddedLookUpsAreMeasured() throws Exception {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = Main.run(
                new PrintWriter(out), new PrintWriter(err), "client", "-o", "json", "--rows=2000", "--rounds=1");

        assertThat(status).as(err.toString()).isZero();
        JsonNode report = new ObjectMapper().readTree(out.toString());
        assertThat(report.get("bench").textValue()).isEqualTo("client");
        assertThat(report.get("results").findValuesAsText("name"))
                .containsExactly(
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
                        "of these, two looks at the clock p50");
        for (JsonNode figure : report.get("results")) {
            assertThat(figure.get("ours").doubleValue()).as(figure.toString()).isPositive();
        }
    }
}
