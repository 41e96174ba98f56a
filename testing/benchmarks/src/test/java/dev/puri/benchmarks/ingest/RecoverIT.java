package dev.puri.benchmarks.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.benchmarks.BenchRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Both sides and all instances on a real broker, with too few rows to measure anything. */
@Execution(ExecutionMode.CONCURRENT)
class RecoverIT {
    @Test
    void bothSidesProcessEventsAgainAfterTheirStateIsLost() throws Exception {
        BenchRun run = BenchRun.of(
                "recover", "--rows=2000", "--published=1000", "--events=1000", "--recoveries=1", "--rounds=1");

        assertThat(run.names())
                .containsExactly(
                        "empty state directory until events are processed",
                        "events through the topology with all rows registered",
                        "processor time for each event with all rows registered, broker included",
                        "state directory for each identity",
                        "broker's disk for each identity, claims-repartition",
                        "broker's disk for each identity, handles-changelog",
                        "broker's disk for each identity, parked-changelog",
                        "broker's disk for each identity, puri.collections.v1",
                        "broker's disk for each identity, puri.documents.v1",
                        "broker's disk for each identity, puri.events.v1",
                        "broker's disk for each identity, puri.grants.v1",
                        "broker's disk for each identity, puri.identities.v1",
                        "broker's disk for each identity, registrations-changelog",
                        "broker's disk for each identity, tally-changelog",
                        "stop of an instance with a standby until events are processed");
        for (int i : new int[] {0, 1, 2, 3, 14}) {
            assertThat(run.figures().get(i).get("theirs").doubleValue()).isPositive();
        }
    }
}
