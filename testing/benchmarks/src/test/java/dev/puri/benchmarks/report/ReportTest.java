package dev.puri.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReportTest {
    private static final Report REPORT = new Report(
            "ingest",
            "2 × Z80",
            List.of(
                    new Report.Figure(
                            "events through the topology", "1/s", 61_234.56, "bare Kafka Streams job", 80_000.0),
                    new Report.Figure("published to resolvable p50", "ms", 59.876, null, null)));

    @Test
    void jsonHasOneObjectOnOneLine() {
        assertThat(REPORT.json())
                .isEqualTo("{\"bench\":\"ingest\",\"machine\":\"2 × Z80\",\"results\":["
                        + "{\"name\":\"events through the topology\",\"unit\":\"1/s\",\"ours\":61230,"
                        + "\"baseline\":\"bare Kafka Streams job\",\"theirs\":80000,\"ratio\":0.7654},"
                        + "{\"name\":\"published to resolvable p50\",\"unit\":\"ms\",\"ours\":59.88,"
                        + "\"baseline\":null,\"theirs\":null,\"ratio\":null}]}");
    }

    @Test
    void tableHasTheSameFigures() {
        assertThat(REPORT.table().lines())
                .containsExactly(
                        "ingest                       unit   ours  theirs   ratio  baseline",
                        "events through the topology  1/s   61230   80000  0.7654  bare Kafka Streams job",
                        "published to resolvable p50  ms    59.88       -       -  -",
                        "2 × Z80");
    }

    @Test
    void medianOfAnEvenNumberLiesBetweenTheMiddleTwo() {
        assertThat(Rounds.median(List.of(4.0, 1.0, 3.0, 2.0))).isEqualTo(2.5);
        assertThat(Rounds.median(List.of(9.0, 1.0, 2.0))).isEqualTo(2.0);
    }
}
