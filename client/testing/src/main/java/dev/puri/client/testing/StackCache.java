package dev.puri.client.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The folder in which all builds of a user share unpacked stacks. It deletes stacks that no build uses any more, and no file whose name it
 * did not choose. Clean-up never fails a start: another JVM may clean up at the same time, and the cache may be read-only.
 *
 * <pre>
 * unpacking-N  ──rename──▶  0123456789abcdef  ──rename──▶  deleting-UUID
 * </pre>
 *
 * The renames are atomic, so a stack under its own name is complete.
 */
final class StackCache {
    private static final Pattern STACK = Pattern.compile("[0-9a-f]{16}");
    private static final String UNPACKING = "unpacking-";
    private static final Pattern UNPACKING_NAME = Pattern.compile(UNPACKING + "\\d+");
    private static final String DELETING = "deleting-";
    private static final Pattern DELETING_NAME = Pattern.compile(DELETING + "[0-9a-f-]{36}");

    /** A stack that no JVM used for this time is deleted. */
    private static final Duration KEPT = Duration.ofDays(7);

    /** Most stacks that are kept: a stack has 350 MB, and each change of this repository makes a new one. */
    private static final int MAX_STACKS = 3;

    /** A stack that a JVM used within this time may be running, so it is kept beyond that number. */
    private static final Duration MAY_RUN = Duration.ofHours(1);

    /** A JVM that has not unpacked a stack after this time was killed: it takes seconds. */
    private static final Duration UNPACKED_WITHIN = Duration.ofDays(1);

    private final Path folder;

    StackCache(Path folder) {
        this.folder = folder;
    }

    Path stack(String hash) {
        return folder.resolve(hash);
    }

    /** An empty folder to unpack into. */
    Path newUnpacking() throws IOException {
        Files.createDirectories(folder);
        return Files.createTempDirectory(folder, UNPACKING);
    }

    /** Marks a stack as used now. Does nothing if the cache is read-only, for example because it was filled beforehand. */
    static void touch(Path stack, Instant now) {
        try {
            Files.setLastModifiedTime(stack, FileTime.from(now));
        } catch (IOException e) {
            // The cache is read-only, or the stack is not unpacked yet.
        }
    }

    /** Renames a stack and then deletes it, so that no JVM sees a partial stack. */
    static void discard(Path stack) {
        Path discarded = stack.resolveSibling(DELETING + UUID.randomUUID());
        try {
            Files.move(stack, discarded, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            // The cache is read-only, or another JVM was faster.
            return;
        }
        Folders.tryDelete(discarded);
    }

    /**
     * Deletes folders that no JVM needs any more.
     *
     * @param taken the stack that this JVM uses
     */
    void clean(Path taken, Instant now) {
        Folders.named(DELETING_NAME, folder).forEach(Folders::tryDelete);
        for (Path unpacking : Folders.named(UNPACKING_NAME, folder)) {
            if (Folders.lastChanged(unpacking, now).isBefore(now.minus(UNPACKED_WITHIN))) {
                discard(unpacking);
            }
        }
        // Read once each, because a sort needs times that do not change.
        Map<Path, Instant> others = new HashMap<>();
        for (Path stack : Folders.named(STACK, folder)) {
            if (!stack.equals(taken)) {
                others.put(stack, Folders.lastChanged(stack, now));
            }
        }
        List<Path> newestFirst = new ArrayList<>(others.keySet());
        newestFirst.sort(Comparator.comparing(others::get, Comparator.reverseOrder()));
        for (int i = 0; i < newestFirst.size(); i++) {
            Path stack = newestFirst.get(i);
            Duration limit = i + 1 < MAX_STACKS ? KEPT : MAY_RUN;
            if (Objects.requireNonNull(others.get(stack)).isBefore(now.minus(limit))) {
                discard(stack);
            }
        }
    }
}
