package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process that does nothing but write its table and snapshots is killed, at any moment. */
@Timeout(180)
final class SnapshotKillIT {
    private static final int KILLS = 5;
    private static final Uuid TOPIC = new Uuid(1, 2);

    @TempDir
    private Path folder;

    @Test
    void killedProcessLeavesACompleteSnapshot() throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Path file = folder.resolve("identities.snapshot");
        for (int kill = 0; kill < KILLS; kill++) {
            Process process = new ProcessBuilder(
                            ProcessHandle.current().info().command().orElseThrow(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            Child.class.getName(),
                            file.toString(),
                            Long.toString(seed))
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("output").toFile())
                    .start();
            try {
                Instant begun =
                        Files.exists(file) ? Files.getLastModifiedTime(file).toInstant() : Instant.MIN;
                await().atMost(Duration.ofSeconds(60))
                        .until(() -> Files.exists(file)
                                && Files.getLastModifiedTime(file).toInstant().isAfter(begun));
                // Until a random moment during one of the next dumps.
                assertThat(process.waitFor(random.nextInt(300), TimeUnit.MILLISECONDS))
                        .as(Files.readString(folder.resolve("output")))
                        .isFalse();
            } finally {
                process.destroyForcibly().waitFor(20, TimeUnit.SECONDS);
            }
            assertMatchesTheLog(PackedTable.open(file, Child.terms()), seed);
        }
    }

    private static void assertMatchesTheLog(PackedTable opened, long seed) {
        History history = new History(seed);
        // Past the last offset that the snapshot can contain.
        long end = opened.nextOffset(0) + 2_000_000L / KILLS;
        Map<Puri, Row> model = new HashMap<>();
        for (long offset = 0; offset < end; offset++) {
            History.Entry entry = history.at(offset);
            if (entry.row() == null) {
                model.remove(entry.puri());
            } else {
                model.put(entry.puri(), entry.row());
            }
            if (offset >= opened.nextOffset(0)) {
                entry.applyTo(opened);
            }
        }
        Map<Puri, Row> scanned = new HashMap<>();
        opened.scan(identity -> scanned.put(identity.puri(), identity.row()));
        assertThat(scanned).as("seed %d", seed).isEqualTo(model);
    }

    /** The process to be killed. */
    static final class Child {
        private Child() {}

        static SnapshotRequirements terms() {
            return new SnapshotRequirements(
                    TOPIC, Map.of(0, 0L), Map.of(0, Long.MAX_VALUE), Duration.ofDays(7), Instant.EPOCH);
        }

        public static void main(String[] args) throws Exception {
            Path file = Path.of(args[0]);
            History history = new History(Long.parseLong(args[1]));
            PackedTable table = Files.exists(file) ? PackedTable.open(file, terms()) : new PackedTable();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    while (true) {
                        table.writeSnapshot(file, new SnapshotOrigin(TOPIC, 1, Instant.EPOCH), Instant.EPOCH);
                    }
                } catch (java.io.IOException e) {
                    e.printStackTrace();
                    Runtime.getRuntime().halt(1);
                }
            });
            // Bounded, in case nobody kills it.
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
            for (long offset = table.nextOffset(0); System.nanoTime() < end; offset++) {
                history.at(offset).applyTo(table);
                table.setNextOffset(0, offset + 1);
            }
        }
    }
}
