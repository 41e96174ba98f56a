package dev.puri.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;

/**
 * A run of {@code puri bench} in this process.
 *
 * @param report as JSON
 * @param progress lines on stderr
 */
public record BenchRun(JsonNode report, String progress) {
    /** Runs a command, which has to succeed, and whose figures have to be positive. */
    public static BenchRun of(String name, String... options) throws IOException {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        List<String> arguments = new ArrayList<>(List.of(name, "-o", "json"));
        arguments.addAll(List.of(options));
        int status = Main.run(new PrintWriter(out), new PrintWriter(err), arguments.toArray(String[]::new));
        assertThat(status).as(err.toString()).isZero();
        JsonNode report = new ObjectMapper().readTree(out.toString());
        assertThat(report.get("bench").textValue()).isEqualTo(name);
        assertThat(report.get("machine").textValue()).contains("Java").contains("load average");
        for (JsonNode figure : report.get("results")) {
            assertThat(figure.get("ours").doubleValue()).as(figure.toString()).isPositive();
        }
        return new BenchRun(report, err.toString());
    }

    /** Returns all figures. */
    public JsonNode figures() {
        return report.get("results");
    }

    /** Returns the figures' names in their order. */
    public List<String> names() {
        return figures().findValuesAsText("name");
    }

    /** Returns the baselines of a figure that were measured. */
    public List<String> baselines(String name) {
        return StreamSupport.stream(figures().spliterator(), false)
                .filter(figure -> figure.get("name").textValue().equals(name))
                .filter(figure -> !figure.get("ratio").isNull())
                .map(figure -> figure.get("baseline").textValue())
                .toList();
    }
}
