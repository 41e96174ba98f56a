package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.testkit.SchemaRegistryFixture;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A resolver loses its disk, or a bit of its snapshot. */
class ResolverDrillIT {
    @Test
    void aResolverNeedsNothingButTheTopic(@TempDir Path folder, @TempDir Path files) throws Exception {
        try (DrillStack stack =
                new DrillStack(folder, files, SchemaRegistryFixture.shared().url()).startServers(false)) {
            Music.publish(stack);

            stack.stopResolver();
            stack.run("Disk of a resolver lost", "rm -rf");
            assertThat(folder.resolve("resolver")).doesNotExist();
            stack.startResolver();
            stack.awaitReady();
            Music.assertKept(stack);

            stack.stopResolver();
            Path snapshot = folder.resolve("resolver").resolve("identities.snapshot");
            flipABit(snapshot);
            Path damaged = Files.copy(snapshot, files.resolve("damaged"));
            stack.startResolver();
            stack.awaitReady();
            Music.assertKept(stack);
            stack.stopResolver();
            assertThat(snapshot).exists();
            assertThat(Files.mismatch(snapshot, damaged)).as("a new snapshot").isNotNegative();
        }
    }

    private static void flipABit(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            long middle = channel.size() / 2;
            ByteBuffer one = ByteBuffer.allocate(1);
            channel.read(one, middle);
            one.put(0, (byte) (one.get(0) ^ 1));
            channel.write(one.rewind(), middle);
        }
    }
}
