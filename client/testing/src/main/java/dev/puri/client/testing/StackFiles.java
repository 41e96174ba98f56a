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
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
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
 * What {@code client-testing-stack} carries, as files. Its jar is unpacked once for each content, into a folder that all builds of a
 * user share.
 *
 * @param folder with {@code lib} and {@code apicurio}
 * @param java the version that it needs
 * @param main the class to start
 * @param arguments what it takes first
 */
record StackFiles(Path folder, int java, String main, List<String> arguments) {
    private static final String PREFIX = "dev/puri/client/testing/stack/";
    private static final String DESCRIPTION = PREFIX + "stack.properties";

    /** An unpacked stack that no build used for so long is deleted. */
    private static final Duration KEPT = Duration.ofDays(7);

    /** The description of the stack on the class path; null when its artifact is not there. */
    static @Nullable URL onClassPath() {
        return Resources.find(DESCRIPTION);
    }

    /** Where stacks are unpacked: {@code PURI_TEST_CACHE}, or a folder in the user's cache. */
    static Path cache(Map<String, String> environment, Path user) {
        String named = environment.getOrDefault("PURI_TEST_CACHE", "");
        if (!named.isBlank()) {
            return Path.of(named);
        }
        String shared = environment.getOrDefault("XDG_CACHE_HOME", "");
        return (shared.isBlank() ? user.resolve(".cache") : Path.of(shared)).resolve("puri/testing-stack");
    }

    /**
     * Its files, unpacked if that has not been done.
     *
     * @param description that {@link #onClassPath} found
     * @throws RegistryStartException when it cannot be unpacked
     */
    static StackFiles of(URL description, Path cache) {
        try {
            Path folder = description.openConnection() instanceof JarURLConnection inJar
                    ? unpacked(Path.of(inJar.getJarFileURL().toURI()), cache)
                    // The build's own, which is not packed.
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
        try (Reader reader = Files.newBufferedReader(folder.resolve("stack.properties"))) {
            description.load(reader);
        }
        return new StackFiles(
                folder,
                Integer.parseInt(description.getProperty("java")),
                description.getProperty("main"),
                List.of(description.getProperty("arguments").split(" ")));
    }

    private static Path unpacked(Path jarFile, Path cache) throws IOException {
        Files.createDirectories(cache);
        Path folder;
        try (JarFile jar = new JarFile(jarFile.toFile())) {
            List<JarEntry> entries = jar.stream()
                    .filter(entry -> entry.getName().startsWith(PREFIX) && !entry.isDirectory())
                    .sorted(Comparator.comparing(JarEntry::getName))
                    .toList();
            folder = cache.resolve(hash(entries));
            if (!Files.isDirectory(folder)) {
                unpack(jar, entries, folder);
            }
        }
        Files.setLastModifiedTime(folder, FileTime.from(Instant.now()));
        Folders.deleteOlder(cache, "*", Instant.now().minus(KEPT));
        return folder;
    }

    /** Of names, sizes and checksums, which the jar's directory has, so that nothing is read for it. */
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

    /** Into a folder beside it, and renamed when complete: another JVM may do the same, and either may be killed. */
    private static void unpack(JarFile jar, List<JarEntry> entries, Path folder) throws IOException {
        Path unfinished = Files.createTempDirectory(folder.getParent(), "unpacking-");
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
            if (!Files.isDirectory(folder)) {
                throw e;
            }
            // Another JVM was faster.
            Folders.delete(unfinished);
        }
    }
}
