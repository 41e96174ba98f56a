package dev.puri.client.testing;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.net.JarURLConnection;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.jspecify.annotations.Nullable;

/**
 * The files of {@code client-testing-stack}. The content of its jar is unpacked once, into a folder that all builds of a user share.
 *
 * @param folder the folder with {@code lib} and {@code apicurio}
 * @param java the Java version that the stack needs
 * @param main the main class
 * @param arguments its first arguments
 */
record StackFiles(Path folder, int java, String main, List<String> arguments) {
    private static final String PREFIX = "dev/puri/client/testing/stack/";
    private static final String DESCRIPTION_FILE = "stack.properties";
    private static final String DESCRIPTION = PREFIX + DESCRIPTION_FILE;

    /** Finds the description of the stack on the class path; null if the artifact is not there. */
    static @Nullable URL onClassPath() {
        return Resources.find(DESCRIPTION);
    }

    /** The folder of unpacked stacks, below the one that {@code PURI_TEST_CACHE} names or the user's cache. */
    static Path cache(Map<String, String> environment, Path user) {
        String named = environment.getOrDefault("PURI_TEST_CACHE", "");
        if (!named.isBlank()) {
            // A subfolder, because the named one may have other files.
            return Path.of(named).resolve("puri-testing-stack").toAbsolutePath();
        }
        String shared = environment.getOrDefault("XDG_CACHE_HOME", "");
        return (shared.isBlank() ? user.resolve(".cache") : Path.of(shared))
                .resolve("puri/testing-stack")
                .toAbsolutePath();
    }

    /**
     * Returns the files of a stack, and unpacks them if that has not been done.
     *
     * @param description the result of {@link #onClassPath}
     * @throws RegistryStartException if the stack cannot be unpacked
     */
    static StackFiles of(URL description, Path cache) {
        try {
            Path folder = description.openConnection() instanceof JarURLConnection inJar
                    ? unpacked(Path.of(inJar.getJarFileURL().toURI()), cache)
                    // In this repository's build the stack is a folder.
                    : Objects.requireNonNull(Path.of(description.toURI()).getParent());
            if (!Files.isDirectory(folder.resolve("lib"))) {
                throw new FileNotFoundException(
                        folder + " has no jars; build them: mvn package -pl client/testing-stack -am");
            }
            return read(folder);
        } catch (IOException | URISyntaxException e) {
            throw new RegistryStartException(
                    "the stack in " + description + " cannot be made ready in " + cache
                            + "; PURI_TEST_CACHE may name another folder. " + e,
                    e);
        }
    }

    private static StackFiles read(Path folder) throws IOException {
        Properties description = new Properties();
        try (Reader reader = Files.newBufferedReader(folder.resolve(DESCRIPTION_FILE))) {
            description.load(reader);
        }
        return new StackFiles(
                folder,
                Integer.parseInt(description.getProperty("java")),
                description.getProperty("main"),
                List.of(description.getProperty("arguments").split(" ")));
    }

    private static Path unpacked(Path jarFile, Path cacheFolder) throws IOException {
        StackCache cache = new StackCache(cacheFolder);
        Instant now = Instant.now();
        Path folder;
        try (JarFile jar = new JarFile(jarFile.toFile())) {
            List<JarEntry> entries = jar.stream()
                    .filter(entry -> entry.getName().startsWith(PREFIX) && !entry.isDirectory())
                    .sorted(Comparator.comparing(JarEntry::getName))
                    .toList();
            folder = cache.stack(hash(entries));
            // Before the check, so that no other JVM deletes it after the check.
            StackCache.touch(folder, now);
            if (!isComplete(folder)) {
                StackCache.discard(folder);
                unpack(jar, entries, cache, folder);
            }
        }
        cache.clean(folder, now);
        return folder;
    }

    /** Whether a stack has its description; one that another program deleted in part may lack it. */
    private static boolean isComplete(Path folder) {
        return Files.isRegularFile(folder.resolve(DESCRIPTION_FILE));
    }

    /** A hash of names, sizes and checksums, which are in the jar's directory, so that the content need not be read. */
    private static String hash(List<JarEntry> entries) {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
        for (JarEntry entry : entries) {
            digest.update(entry.getName().getBytes(StandardCharsets.UTF_8));
            digest.update(ByteBuffer.allocate(16)
                    .putLong(entry.getSize())
                    .putLong(entry.getCrc())
                    .array());
        }
        return HexFormat.of().formatHex(digest.digest(), 0, 8);
    }

    /** Unpacks into another folder and renames it when complete: a second JVM may do the same, and either may be killed. */
    private static void unpack(JarFile jar, List<JarEntry> entries, StackCache cache, Path folder) throws IOException {
        Path unfinished = cache.newUnpacking();
        for (JarEntry entry : entries) {
            Path file = unfinished
                    .resolve(entry.getName().substring(PREFIX.length()))
                    .normalize();
            if (!file.startsWith(unfinished)) {
                throw new IOException(jar.getName() + " has an entry outside its folder: " + entry.getName());
            }
            Files.createDirectories(Objects.requireNonNull(file.getParent()));
            try (InputStream content = jar.getInputStream(entry)) {
                Files.copy(content, file);
            }
        }
        try {
            Files.move(unfinished, folder, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileSystemException e) {
            if (!isComplete(folder)) {
                throw e;
            }
            // Another JVM was faster.
            Folders.tryDelete(unfinished);
        }
    }
}
