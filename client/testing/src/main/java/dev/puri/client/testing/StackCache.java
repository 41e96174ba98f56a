package dev.puri.client.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Manages the folder in which all builds of a user share unpacked stacks. A stack is the set of files that a registry
 * for tests needs. Deletes stacks that are no longer used, and only files whose names have one of the forms below. A
 * failed clean-up does not fail a start, because another JVM may clean up at the same time, and the cache may be
 * read-only.
 *
 * <pre>
 * unpacking-N  ──rename──▶  0123456789abcdef  ──rename──▶  deleting-UUID
 * </pre>
 *
 * The renames are atomic, so a folder whose name is a hash is a complete stack.
 */
final class StackCache {
    private static final Pattern STACK_NAME = Pattern.compile("[0-9a-f]{16}");
    private static final String UNPACKING_PREFIX = "unpacking-";
    private static final Pattern UNPACKING_NAME = Pattern.compile(UNPACKING_PREFIX + "\\d+");
    private static final String DELETING_PREFIX = "deleting-";
    private static final Pattern DELETING_NAME = Pattern.compile(DELETING_PREFIX + "[0-9a-f-]{36}");

    /** A stack is deleted if no JVM has used it for this time. */
    private static final Duration MAX_IDLE_TIME = Duration.ofDays(7);

    /**
     * Maximum number of stacks, including the one that this JVM uses. A stack has 350 MB, and each change of this
     * repository creates a new stack.
     */
    private static final int MAX_STACKS = 3;

    /**
     * A stack that a JVM used within this time may be running, so it is kept even if there are more than the maximum
     * number.
     */
    private static final Duration MAX_RUN_TIME = Duration.ofHours(1);

    /** If a stack is not unpacked after this time, its JVM was killed, because unpacking takes only seconds. */
    private static final Duration MAX_UNPACK_TIME = Duration.ofDays(1);

    private final Path folder;

    StackCache(Path folder) {
        this.folder = folder;
    }

    Path stack(String hash) {
        return folder.resolve(hash);
    }

    /** Creates an empty folder for unpacking a stack. */
    Path newUnpacking() throws IOException {
        Files.createDirectories(folder);
        return Files.createTempDirectory(folder, UNPACKING_PREFIX);
    }

    /**
     * Marks a stack as used now. Does nothing if the cache is read-only, for example because an administrator has
     * filled it.
     */
    static void touch(Path stack, Instant now) {
        try {
            Files.setLastModifiedTime(stack, FileTime.from(now));
        } catch (IOException e) {
            // The cache is read-only, or the stack is not unpacked yet.
        }
    }

    /** Renames a stack and then deletes it, so that no JVM sees a partial stack. */
    static void discard(Path stack) {
        Path discarded = stack.resolveSibling(DELETING_PREFIX + UUID.randomUUID());
        try {
            Files.move(stack, discarded, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            // The cache is read-only, or another JVM was faster.
            return;
        }
        Folders.tryDelete(discarded);
    }

    /**
     * Deletes folders that no JVM needs.
     *
     * @param usedStack the stack that this JVM uses
     */
    void clean(Path usedStack, Instant now) {
        Folders.named(DELETING_NAME, folder).forEach(Folders::tryDelete);
        for (Path unpacking : Folders.named(UNPACKING_NAME, folder)) {
            if (Folders.lastChanged(unpacking, now).isBefore(now.minus(MAX_UNPACK_TIME))) {
                discard(unpacking);
            }
        }
        // Each time is read only once, because sorting needs times that do not change.
        List<Map.Entry<Path, Instant>> newestFirst = Folders.named(STACK_NAME, folder).stream()
                .filter(stack -> !stack.equals(usedStack))
                .map(stack -> Map.entry(stack, Folders.lastChanged(stack, now)))
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .toList();
        for (int i = 0; i < newestFirst.size(); i++) {
            Duration maxIdle = i + 1 < MAX_STACKS ? MAX_IDLE_TIME : MAX_RUN_TIME;
            if (newestFirst.get(i).getValue().isBefore(now.minus(maxIdle))) {
                discard(newestFirst.get(i).getKey());
            }
        }
    }
}
