package dev.puri.client.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StackCacheTest {
    private static final Instant NOW = Instant.parse("2026-02-03T04:05:06Z");

    @TempDir
    private Path cache;

    private Path made(String name, Duration age) throws IOException {
        Path made = Files.createDirectory(cache.resolve(name));
        Files.createFile(made.resolve("file"));
        Files.setLastModifiedTime(made, FileTime.from(NOW.minus(age)));
        return made;
    }

    private Path stack(int number, Duration age) throws IOException {
        return made(String.format("%016x", number), age);
    }

    private void clean(Path taken) {
        new StackCache(cache).clean(taken, NOW);
    }

    @Test
    void aStackUnusedForAWeekIsDeleted() throws IOException {
        Path taken = stack(1, Duration.ofDays(30));
        Path kept = stack(2, Duration.ofDays(6));
        Path old = stack(3, Duration.ofDays(8));
        clean(taken);
        assertThat(cache).isDirectoryNotContaining("glob:**/deleting-*");
        assertThat(taken).exists();
        assertThat(kept).exists();
        assertThat(old).doesNotExist();
    }

    @Test
    void theNewestThreeAreKeptAndThoseThatMayRun() throws IOException {
        Path taken = stack(1, Duration.ZERO);
        Path fourth = stack(2, Duration.ofHours(4));
        Path second = stack(3, Duration.ofHours(2));
        Path third = stack(4, Duration.ofHours(3));
        clean(taken);
        assertThat(second).exists();
        assertThat(third).exists();
        assertThat(fourth).doesNotExist();

        Path mayRun = stack(5, Duration.ofMinutes(50));
        Path mayRunToo = stack(6, Duration.ofMinutes(55));
        Path andThis = stack(7, Duration.ofMinutes(58));
        clean(taken);
        assertThat(mayRun).exists();
        assertThat(mayRunToo).exists();
        assertThat(andThis).exists();
        assertThat(second).doesNotExist();
    }

    @Test
    void foldersOfOthersAreKept() throws IOException {
        Duration old = Duration.ofDays(99);
        Path[] ofOthers = {
            made("repository", old),
            made("0123456789abcdef0", old),
            made("0123456789ABCDEF", old),
            made("unpacking-mine", old),
            made("deleting-mine", old)
        };
        clean(stack(1, Duration.ZERO));
        for (Path each : ofOthers) {
            assertThat(each.resolve("file")).exists();
        }
    }

    @Test
    void deletesFoldersOfKilledJvmsButNotFoldersBeingUnpacked() throws IOException {
        Path unpacked = made("unpacking-1", Duration.ofMinutes(5));
        Path left = made("unpacking-2", Duration.ofDays(2));
        Path deleted = made("deleting-00000000-0000-4000-8000-000000000000", Duration.ZERO);
        clean(stack(1, Duration.ZERO));
        assertThat(unpacked).exists();
        assertThat(left).doesNotExist();
        assertThat(deleted).doesNotExist();
    }

    @Test
    void aCacheThatCannotBeReadFailsNothing() {
        Path none = cache.resolve("none");
        StackCache.touch(none, NOW);
        StackCache.discard(none);
        new StackCache(none).clean(none.resolve("0123456789abcdef"), NOW);
        assertThat(none).doesNotExist();
    }
}
