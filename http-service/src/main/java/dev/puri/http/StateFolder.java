package dev.puri.http;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a server keeps what it need not read again: the folder of {@code PURI_STATE_DIR}, or one of its own
 * that goes with it.
 *
 * @param path need not be there yet
 * @param isTemporary whether it goes when it is closed
 */
public record StateFolder(Path path, boolean isTemporary) implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(StateFolder.class);

    /**
     * The folder that was set, or a temporary one.
     *
     * @param server in the temporary one's name
     */
    public static StateFolder of(Optional<Path> set, String server) {
        return set.map(path -> new StateFolder(path, false))
                .orElseGet(() -> new StateFolder(
                        Path.of(System.getProperty("java.io.tmpdir"), "puri-" + server + "-" + UUID.randomUUID()),
                        true));
    }

    /**
     * To be asked where settings are read: later, whoever needs it could but try again.
     *
     * @throws IllegalArgumentException when nothing can be kept there
     */
    public static void requireUsable(Path folder) {
        Path there = folder.toAbsolutePath();
        while (there != null && !Files.exists(there)) {
            there = there.getParent();
        }
        if (there == null || !Files.isDirectory(there)) {
            throw new IllegalArgumentException("PURI_STATE_DIR: " + there + " is no folder");
        }
        if (!Files.isWritable(there)) {
            throw new IllegalArgumentException("PURI_STATE_DIR: " + there + " cannot be written to");
        }
    }

    @Override
    public void close() {
        if (!isTemporary || !Files.exists(path)) {
            return;
        }
        try (Stream<Path> files = Files.walk(path)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            log.warn("{} cannot be deleted: {}", path, e.toString());
        }
    }
}
