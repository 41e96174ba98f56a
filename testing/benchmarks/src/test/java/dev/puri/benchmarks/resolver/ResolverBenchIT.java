package dev.puri.benchmarks.resolver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.benchmarks.BenchRun;
import dev.puri.benchmarks.environment.Program;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The whole comparison with real servers, too short to measure anything. The report names missing servers.
 */
class ResolverBenchIT {
    private static final String MEMORY = "memory after an hour-equivalent of mixed load, hostile input included";

    @Test
    void everyRowOfTheTableIsReportedWithItsBaselines() throws Exception {
        BenchRun run = BenchRun.of(
                "resolver", "--rows=2000", "--seconds=1", "--attack-seconds=1", "--rounds=1", "--soak-requests=1000");

        for (Program program : Program.values()) {
            assertThat(run.progress().contains(program.notInstalledMessage())).isEqualTo(!program.isInstalled());
        }
        List<String> names = new ArrayList<>(List.of("identities"));
        if (Program.WRK.isInstalled()) {
            names.addAll(List.of(
                    "GET by pURI, keep-alive, 32 connections",
                    "GET by pURI",
                    "POST of 100 mixed refs, refs/s",
                    "POST of 100 at half of the top rate",
                    "POST of 100, p50 at half of the top rate",
                    "POST of 100, p99 at half of the top rate"));
            assertThat(run.baselines("GET by pURI, keep-alive, 32 connections"))
                    .containsExactly("bare Vert.x handler answering the same bytes");
            assertThat(run.baselines("GET by pURI"))
                    .containsExactlyElementsOf(redis("Redis GET of the same bytes, redis-benchmark -c 32"));
            List<String> posts = new ArrayList<>(redis(
                    "Redis MGET of 100 values of equal bytes, keys/s", "a Vert.x handler over Redis MGET, JSON out"));
            if (Program.INITDB.isInstalled()) {
                posts.add("a Vert.x handler over PostgreSQL = ANY, JSON out");
            }
            assertThat(run.baselines("POST of 100 mixed refs, refs/s")).containsExactlyElementsOf(posts);
        }
        names.addAll(List.of(
                "p99 of healthy clients, 500 connections with slow headers",
                "p99 of healthy clients, 500 connections with slow bodies"));
        if (Program.WRK.isInstalled()) {
            names.addAll(List.of(
                    MEMORY,
                    MEMORY + ": hostile ones",
                    MEMORY + ": heap after a collection",
                    MEMORY + ": buffers outside the heap",
                    MEMORY + ": table outside the heap",
                    MEMORY + ": resident",
                    MEMORY + ": file descriptors"));
        }
        assertThat(run.names().stream().distinct()).containsExactlyElementsOf(names);
    }

    private static List<String> redis(String... baselines) {
        return Program.REDIS_SERVER.isInstalled() && Program.REDIS_BENCHMARK.isInstalled()
                ? List.of(baselines)
                : List.of();
    }
}
