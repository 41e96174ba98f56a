package dev.puri.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

/** The whole comparison on a real broker, too short to measure anything. */
class TableBenchIT {
    @Test
    void everyFigureIsThereWithItsBaseline() throws Exception {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = Main.run(
                new PrintWriter(out),
                new PrintWriter(err),
                "table",
                "-o",
                "json",
                "--rows=2000",
                "--gets=1000",
                "--rounds=1",
                "--fills=1");

        assertThat(status).as(err.toString()).isZero();
        JsonNode report = new ObjectMapper().readTree(out.toString());
        assertThat(report.get("bench").textValue()).isEqualTo("table");
        assertThat(report.get("results").findValuesAsText("name"))
                .containsExactly(
                        "restore from topic",
                        "restore from topic",
                        "get by pURI",
                        "get by pURI",
                        "get by handle",
                        "get by pURI, not there",
                        "get by pURI beside 50 k puts/s",
                        "get by pURI beside 50 k puts/s p99.9",
                        "write a snapshot",
                        "open a snapshot",
                        "bytes per identity, all in, both doors");
        for (JsonNode figure : report.get("results")) {
            assertThat(figure.get("ours").doubleValue()).isPositive();
            assertThat(figure.get("theirs").isNull())
                    .isEqualTo(figure.get("baseline").isNull());
        }
    }
}
