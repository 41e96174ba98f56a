package dev.puri.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.cli.io.FolderLock;
import dev.puri.cli.verify.CheckRunner.CopyResult;
import dev.puri.cli.verify.Difference.Field;
import dev.puri.cli.verify.Difference.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckRunnerTest {
    private static final Instant NOW = Instant.parse("2026-11-24T12:00:00Z");
    private static final String CLUSTER = "4L6g3nShT-eMCtK--X86sw";

    @TempDir
    private Path folder;

    private final List<String> runs = new ArrayList<>();
    private final List<Difference> printed = new ArrayList<>();
    private final FakeCheck first = new FakeCheck(0);
    private final FakeCheck second = new FakeCheck(1);

    @Test
    void isEqualIfAllRowsWereComparedWithoutADifference() throws Exception {
        List<CopyResult> results = run();
        assertThat(results).hasSize(1);
        assertThat(results.getFirst().rows()).isEqualTo(20);
        assertThat(results.getFirst().isEqual()).isTrue();
    }

    @Test
    void aKilledVerificationContinuesWithTheFirstCheckThatIsNotComplete() throws Exception {
        first.differences = 2;
        second.differences = 1;
        second.failure = new OutOfMemoryError("killed");
        assertThatThrownBy(this::run).isInstanceOf(OutOfMemoryError.class);
        assertThat(printed).hasSize(3);

        printed.clear();
        second.failure = null;
        CopyResult result = run().getFirst();
        assertThat(runs).containsExactly("p-0", "p-1", "p-1");
        assertThat(result.differences()).isEqualTo(3);
        assertThat(printed).hasSize(3);
        assertThat(Files.readAllLines(folder.resolve("differences.ndjson"))).hasSize(3);

        run();
        assertThat(runs).as("a new verification after a complete one").endsWith("p-0", "p-1");
        assertThat(Files.readAllLines(folder.resolve("differences.ndjson"))).hasSize(3);
    }

    @Test
    void aFailedCheckIsAFailureAndAllChecksAreRepeated() throws Exception {
        first.differences = 1;
        first.failure = new VerifyException("the topic is gone");
        second.differences = 1;
        CopyResult result = run().getFirst();
        assertThat(result.isEqual()).isFalse();
        assertThat(result.failure()).isEqualTo("partition 0: the topic is gone");
        assertThat(Files.readAllLines(folder.resolve("differences.ndjson"))).hasSize(1);

        first.failure = null;
        second.differences = 0;
        assertThat(run().getFirst().differences()).as("of this run").isEqualTo(1);
        assertThat(runs).containsExactly("p-0", "p-1", "p-0", "p-1");
    }

    @Test
    void comparingNothingIsAFailureIfThereAreEvents() throws Exception {
        first.rows = 0;
        second.rows = 0;
        assertThat(run().getFirst().failure()).contains("no row of the source was compared");
        assertThat(new CheckRunner(new VerifyFolder(folder), List.of(first, second), CLUSTER, false, printed::add)
                        .run(NOW)
                        .getFirst()
                        .isEqual())
                .isTrue();
    }

    @Test
    void rowsThatCouldNotBeComparedAreNotEqual() throws Exception {
        first.notCompared = 1;
        second.notCompared = 2;
        CopyResult result = run().getFirst();
        assertThat(result.isEqual()).isFalse();
        assertThat(result.note()).as("of all partitions").isEqualTo("3 rows changed in each of several comparisons");
    }

    @Test
    void otherChecksThanThoseOfTheInterruptedVerificationStartAnew() throws Exception {
        second.failure = new OutOfMemoryError("killed");
        assertThatThrownBy(this::run).isInstanceOf(OutOfMemoryError.class);
        second.failure = null;
        new CheckRunner(new VerifyFolder(folder), List.of(second), CLUSTER, true, printed::add).run(NOW);
        first.differences = 1;
        run();
        assertThat(runs).containsExactly("p-0", "p-1", "p-1", "p-0", "p-1");
    }

    @Test
    void theInterruptedVerificationOfAnotherClusterIsNotContinued() throws Exception {
        first.differences = 1;
        second.failure = new OutOfMemoryError("killed");
        assertThatThrownBy(this::run).isInstanceOf(OutOfMemoryError.class);
        second.failure = null;
        first.differences = 0;
        assertThat(verification().discardsOtherCluster()).isFalse();

        CheckRunner other = verificationOf("another");

        assertThat(other.discardsOtherCluster()).isTrue();
        assertThat(other.continuedSince(NOW)).isNull();
        assertThat(other.run(NOW).getFirst().isEqual()).isTrue();
        assertThat(runs).containsExactly("p-0", "p-1", "p-0", "p-1");
        assertThat(verification().discardsOtherCluster()).as("it has ended").isFalse();
    }

    @Test
    void aVerificationContinuesWithinADay() throws Exception {
        assertThat(verification().continuedSince(NOW)).isNull();
        second.failure = new OutOfMemoryError("killed");
        assertThatThrownBy(this::run).isInstanceOf(OutOfMemoryError.class);
        second.failure = null;

        Instant nextDay = NOW.plus(Duration.ofDays(1));
        assertThat(verification().continuedSince(nextDay)).isEqualTo(NOW);
        Instant later = nextDay.plusMillis(1);
        for (ThrowingCallable continued : List.<ThrowingCallable>of(
                () -> verification().continuedSince(later), () -> verification().run(later))) {
            assertThatThrownBy(continued)
                    .isInstanceOf(VerifyException.class)
                    .hasMessageContaining("started at " + NOW + ", more than a day ago; use --restart");
        }
        new VerifyFolder(folder).clear();
        assertThat(verification().run(later).getFirst().isEqual()).isTrue();
        assertThat(verification().continuedSince(later))
                .as("after a complete one")
                .isNull();
    }

    @Test
    void aVerificationThatCompletedNothingDoesNotContinue() throws Exception {
        first.failure = new OutOfMemoryError("killed");
        assertThatThrownBy(this::run).isInstanceOf(OutOfMemoryError.class);
        first.failure = null;
        assertThat(verification().continuedSince(NOW)).isNull();
        assertThat(verification().run(NOW.plus(Duration.ofDays(2))).getFirst().isEqual())
                .isTrue();
    }

    @Test
    void theStateOfAnEarlierBuildThatCannotBeReadNamesTheRemedy() throws Exception {
        VerifyFolder earlier = new VerifyFolder(folder);
        Files.writeString(folder.resolve("state.json"), """
                {"startedAt":"2026-11-24T12:00:00Z","complete":false,"bytes":0,"checks":[
                  {"name":"p-0","rows":10,"expectedRows":10,"differences":0,"notCompared":1,"note":"1 row changed"}]}
                """);
        assertThatThrownBy(this::run)
                .isInstanceOf(VerifyException.class)
                .hasMessageContaining("state.json cannot be read, so use --restart");
        Files.writeString(folder.resolve("state.json"), """
                {"startedAt":"yesterday","complete":false,"bytes":0,"checks":[]}
                """);
        assertThatThrownBy(this::run)
                .isInstanceOf(VerifyException.class)
                .hasMessageContaining("state.json cannot be read, so use --restart");
        earlier.clear();
        assertThat(run().getFirst().isEqual()).isTrue();
    }

    @Test
    void twoVerificationsInOneFolderAreRefused() throws Exception {
        VerifyFolder shared = new VerifyFolder(folder.resolve("shared"));
        try (FolderLock unused = shared.lock()) {
            assertThatThrownBy(shared::lock)
                    .isInstanceOf(VerifyException.class)
                    .hasMessageContaining("another puri verify is running in " + shared.path());
        }
        shared.lock().close();
        shared.delete();
        assertThat(shared.path()).doesNotExist();
    }

    @Test
    void aDifferenceIsReadAsItWasWritten() throws Exception {
        first.differences = 1;
        run();
        List<Difference> read = new ArrayList<>();
        new VerifyFolder(folder).forEachDifference(read::add);
        assertThat(read).isEqualTo(printed);
        assertThat(read.getFirst()).hasToString("differs  part  copy-0  a:b:0: shard none instead of br-1");
    }

    private List<CopyResult> run() throws IOException {
        return verification().run(NOW);
    }

    private CheckRunner verification() {
        return verificationOf(CLUSTER);
    }

    private CheckRunner verificationOf(String cluster) {
        return new CheckRunner(new VerifyFolder(folder), List.of(first, second), cluster, true, printed::add);
    }

    private final class FakeCheck implements Check {
        final int number;
        int rows = 10;
        int differences;
        int notCompared;

        @Nullable
        Throwable failure;

        FakeCheck(int number) {
            this.number = number;
        }

        @Override
        public String part() {
            return "part";
        }

        @Override
        public String copy() {
            return "copy";
        }

        @Override
        public Integer partition() {
            return number;
        }

        @Override
        public long records() {
            return 10;
        }

        @Override
        public Result run(Consumer<Difference> consumer) {
            runs.add("p-" + number);
            for (int i = 0; i < differences; i++) {
                consumer.accept(new Difference(
                        part(),
                        copy(),
                        number,
                        "a:b:" + i,
                        null,
                        Kind.DIFFERS,
                        Map.of("shard", new Field("br-1", null)),
                        null));
            }
            if (failure instanceof RuntimeException exception) {
                throw exception;
            }
            if (failure instanceof Error error) {
                throw error;
            }
            return new Result(rows, rows, notCompared, Note.ofChanged(notCompared));
        }
    }
}
