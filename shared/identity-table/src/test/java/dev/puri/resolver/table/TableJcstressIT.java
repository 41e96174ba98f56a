package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openjdk.jcstress.Main;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.grading.ReportUtils;
import org.openjdk.jcstress.infra.runners.TestList;

/**
 * Runs {@link TableStress} and {@link IndexStress} in jcstress: the writer meets a reader millions of times, each
 * on its own processor, in code that C2 has reordered randomly within its rules.
 * It needs two processors.
 */
final class TableJcstressIT {
    private static final String C2_AT_RANDOM =
            "-XX:-TieredCompilation -XX:+StressLCM -XX:+StressGCM -XX:+StressIGVN -XX:+StressCCP";

    /** Short, so that actors often start together; a whole round uses fewer numbers than {@link TableStress} has. */
    private static final int STRIDE = 16;

    private static final int STRIDES = 64;

    private final Path folder = Path.of("target", "jcstress").toAbsolutePath();

    @Test
    @Timeout(180)
    void readersSeeNoMixedRowAndNoFalseMiss() throws Exception {
        Files.createDirectories(folder);
        for (Path before : results()) {
            Files.delete(before);
        }
        Path output = folder.resolve("output.txt");
        Process jcstress = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "-v",
                        "-sc",
                        "false",
                        "-f",
                        "1",
                        "-iters",
                        "3",
                        "-time",
                        "200",
                        "-strideSize",
                        Integer.toString(STRIDE),
                        "-strideCount",
                        Integer.toString(STRIDES),
                        "-pth",
                        "false",
                        "-jvmArgs",
                        C2_AT_RANDOM,
                        "-r",
                        folder.toString())
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(jcstress.waitFor(150, TimeUnit.SECONDS))
                    .as("jcstress came to an end, see %s", output)
                    .isTrue();
        } finally {
            jcstress.descendants().forEach(ProcessHandle::destroyForcibly);
            jcstress.destroyForcibly();
        }
        String summary = summary(Files.readString(output));
        List<TestResult> tried = tried(summary);
        assertThat(tried)
                .as(summary)
                .extracting(TestResult::getName)
                .containsExactlyInAnyOrderElementsOf(TestList.tests());
        SoftAssertions all = new SoftAssertions();
        for (TestResult test : tried) {
            all.assertThat(test.status()).as(test.getName()).isEqualTo(Status.NORMAL);
            all.assertThat(test.grading().failureMessages).as(test.getName()).isEmpty();
            if (test.getName().startsWith(TableStress.class.getName())) {
                all.assertThat(test.getStateKeys())
                        .as("%s: outcomes before and after the change", test.getName())
                        .hasSizeGreaterThan(1);
            }
        }
        assertThat(all.errorsCollected()).as(summary).isEmpty();
        assertThat(jcstress.exitValue()).as(summary).isZero();
    }

    private List<TestResult> tried(String summary) throws IOException, ClassNotFoundException {
        assertThat(results()).as(summary).hasSize(1);
        InProcessCollector collector = new InProcessCollector();
        DiskReadCollector reader = new DiskReadCollector(results().getFirst().toString(), collector);
        reader.dump();
        reader.close();
        return ReportUtils.mergedByName(collector.getTestResults());
    }

    private List<Path> results() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".bin.gz")).toList();
        }
    }

    /** The final output of jcstress, or all its output if it did not finish. */
    private static String summary(String output) {
        return output.substring(Math.max(0, output.indexOf("RUN RESULTS:")));
    }
}
