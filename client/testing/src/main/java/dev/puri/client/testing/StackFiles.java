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
 * The unpacked files of the artifact {@code client-testing-stack}, from which a registry for tests is started. The jar
 * is unpacked only once, to a folder that all builds of a user share.
 *
 * @param folder folder that contains {@code lib} and {@code apicurio}
 * @param minJavaVersion minimum Java version
 * @param main name of the main class
 * @param arguments first arguments of the main class
 */
record StackFiles(Path folder, int minJavaVersion, String main, List<String> arguments) {
    private static final String PREFIX = "dev/puri/client/testing/stack/";
    private static final String DESCRIPTION_FILE = "stack.properties";
    private static final String DESCRIPTION = PREFIX + DESCRIPTION_FILE;

    /** Returns the URL of the stack's description; null if the artifact is not on the class path. */
    static @Nullable URL findDescription() {
        return Resources.find(DESCRIPTION);
    }

    /**
     * Returns the folder of unpacked stacks: a subfolder of {@code PURI_TEST_CACHE} if this variable is set, else of
     * the user's cache.
     */
    static Path cache(Map<String, String> environment, Path userHome) {
        String configured = environment.getOrDefault("PURI_TEST_CACHE", "");
        if (!configured.isBlank()) {
            // A subfolder, because the configured folder may contain other files.
            return Path.of(configured).resolve("puri-testing-stack").toAbsolutePath();
        }
        String userCache = environment.getOrDefault("XDG_CACHE_HOME", "");
        return (userCache.isBlank() ? userHome.resolve(".cache") : Path.of(userCache))
                .resolve("puri/testing-stack")
                .toAbsolutePath();
    }

    /**
     * Returns the files of a stack. Unpacks the stack if this has not been done before.
     *
     * @param description the result of {@link #findDescription}
     * @throws RegistryStartException if the stack cannot be unpacked
     */
    static StackFiles of(URL description, Path cache) {
        try {
            Path folder = description.openConnection() instanceof JarURLConnection inJar
                    ? unpackIfMissing(Path.of(inJar.getJarFileURL().toURI()), cache)
                    // In the build of this repository, the stack is a folder on the class path.
                    : Objects.requireNonNull(Path.of(description.toURI()).getParent());
            if (!Files.isDirectory(folder.resolve("lib"))) {
                throw new FileNotFoundException(
                        folder + " has no jars; build them: mvn package -pl client/testing-stack -am");
            }
            return read(folder);
        } catch (FileNotFoundException e) {
            throw new RegistryStartException(String.valueOf(e.getMessage()), e);
        } catch (IOException | URISyntaxException e) {
            throw new RegistryStartException(
                    "the stack in " + description + " cannot be unpacked to " + cache
                            + "; set PURI_TEST_CACHE to use another folder. " + e,
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

    private static Path unpackIfMissing(Path jarFile, Path cacheFolder) throws IOException {
        StackCache cache = new StackCache(cacheFolder);
        Instant now = Instant.now();
        Path folder;
        try (JarFile jar = new JarFile(jarFile.toFile())) {
            List<JarEntry> entries = jar.stream()
                    .filter(entry -> entry.getName().startsWith(PREFIX) && !entry.isDirectory())
                    .sorted(Comparator.comparing(JarEntry::getName))
                    .toList();
            folder = cache.stack(hash(entries));
            // Marks the stack as used before the check, because another JVM deletes stacks that are not used for a
            // time.
            StackCache.touch(folder, now);
            if (!hasDescription(folder)) {
                StackCache.discard(folder);
                unpack(jar, entries, cache, folder);
            }
        }
        cache.clean(folder, now);
        return folder;
    }

    /**
     * Returns whether a stack has its description file. If another program deleted part of a stack, the file may be
     * missing.
     */
    private static boolean hasDescription(Path folder) {
        return Files.isRegularFile(folder.resolve(DESCRIPTION_FILE));
    }

    /**
     * Returns a hash of names, sizes and checksums. These are in the jar's directory, so the content need not be read.
     */
    private static String hash(List<JarEntry> entries) {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("bug: every Java platform has SHA-256", e);
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

    /**
     * Unpacks to a temporary folder and then renames it, because another JVM may do the same, and each JVM may be
     * killed.
     */
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
            if (!hasDescription(folder)) {
                throw e;
            }
            // Another JVM was faster.
            Folders.tryDelete(unfinished);
        }
    }
}
