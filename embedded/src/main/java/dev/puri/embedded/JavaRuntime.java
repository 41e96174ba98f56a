package dev.puri.embedded;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** Finds an installed Java runtime of a minimum version. */
final class JavaRuntime {
    private JavaRuntime() {}

    /**
     * Returns the {@code java} command of this JVM's runtime if it is new enough, else of a runtime in a usual place.
     *
     * @throws EmbeddedException if there is none
     */
    static Path atLeast(int version) {
        for (Path home : homes()) {
            Path command = home.resolve("bin").resolve("java");
            if (versionOf(home) >= version && Files.isExecutable(command)) {
                return command;
            }
        }
        throw new EmbeddedException("the schema registry needs Java " + version + " or newer, this is Java "
                + Runtime.version().feature()
                + " and no other was found; install one and let JAVA_HOME name it");
    }

    private static List<Path> homes() {
        List<Path> homes = new ArrayList<>();
        homes.add(Path.of(System.getProperty("java.home")));
        String fromEnvironment = System.getenv("JAVA_HOME");
        if (fromEnvironment != null && !fromEnvironment.isBlank()) {
            homes.add(Path.of(fromEnvironment));
        }
        Path user = Path.of(System.getProperty("user.home"));
        addChildren(homes, Path.of("/usr/lib/jvm"), "");
        addChildren(homes, user.resolve(".sdkman/candidates/java"), "");
        addChildren(homes, user.resolve(".jdks"), "");
        addChildren(homes, Path.of("/Library/Java/JavaVirtualMachines"), "Contents/Home");
        return homes;
    }

    private static void addChildren(List<Path> homes, Path directory, String below) {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (DirectoryStream<Path> children = Files.newDirectoryStream(directory)) {
            for (Path child : children) {
                homes.add(child.resolve(below));
            }
        } catch (IOException e) {
            throw new EmbeddedException("cannot look for a Java in " + directory + ": " + e, e);
        }
    }

    /** Returns the feature version in the {@code release} file of a runtime; 0 if unknown. */
    private static int versionOf(Path home) {
        Path release = home.resolve("release");
        if (!Files.isReadable(release)) {
            return 0;
        }
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(release)) {
            properties.load(reader);
        } catch (IOException e) {
            return 0;
        }
        @Nullable String version = properties.getProperty("JAVA_VERSION");
        if (version == null) {
            return 0;
        }
        try {
            return Runtime.Version.parse(version.replace("\"", "")).feature();
        } catch (IllegalArgumentException e) {
            return 0;
        }
    }
}
