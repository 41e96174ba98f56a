package dev.puri.client.testing;

import java.io.File;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Finds a Java runtime for the registry: the runtime of this JVM, of {@code JAVA_HOME}, on the path, or in a usual
 * installation folder.
 */
final class JavaHomes {
    /**
     * Path patterns of Java installations, in the same order as in the script {@code ./puri}. {@code ~} is the user's
     * home folder, {@code *} is any folder.
     */
    static final List<String> INSTALLATION_PATTERNS = List.of(
            "/usr/lib/jvm/*",
            "~/.sdkman/candidates/java/*",
            "~/.jdks/*",
            "~/.gradle/jdks/*",
            "/opt/java/*",
            "/Library/Java/JavaVirtualMachines/*/Contents/Home");

    private JavaHomes() {}

    /**
     * Returns the homes to try, in this order: that of this JVM, {@code JAVA_HOME}, of {@code java} on the path, {@link
     * #INSTALLATION_PATTERNS}.
     */
    static List<Path> candidates(Map<String, String> environment, Path userHome) {
        List<Path> homes = new ArrayList<>();
        homes.add(Path.of(System.getProperty("java.home")));
        String javaHome = environment.getOrDefault("JAVA_HOME", "");
        if (!javaHome.isBlank()) {
            homes.add(Path.of(javaHome));
        }
        for (String folder : environment.getOrDefault("PATH", "").split(File.pathSeparator)) {
            Path home = folder.isBlank() ? null : homeOf(Path.of(folder, "java"));
            if (home != null) {
                homes.add(home);
            }
        }
        for (String pattern : INSTALLATION_PATTERNS) {
            int star = pattern.indexOf('*');
            Path folder = pattern.startsWith("~/")
                    ? userHome.resolve(pattern.substring(2, star))
                    : Path.of(pattern.substring(0, star));
            addChildren(homes, folder, pattern.substring(Math.min(star + 2, pattern.length())));
        }
        return homes;
    }

    private static @Nullable Path homeOf(Path command) {
        try {
            Path folder = command.toRealPath().getParent();
            return folder == null ? null : folder.getParent();
        } catch (IOException e) {
            // This folder of the path has no java command.
            return null;
        }
    }

    private static void addChildren(List<Path> homes, Path folder, String relativeHome) {
        try (DirectoryStream<Path> children = Files.newDirectoryStream(folder)) {
            children.forEach(child -> homes.add(child.resolve(relativeHome)));
        } catch (IOException | DirectoryIteratorException e) {
            // The folder is missing or unreadable. Another folder may have a Java runtime.
        }
    }

    /**
     * Returns the {@code java} command of the first home that is new enough.
     *
     * @throws RegistryStartException if no home is new enough; the message lists the homes that are too old
     */
    static Path commandOf(int version, List<Path> homes) {
        List<String> tooOld = new ArrayList<>();
        for (Path home : homes) {
            int homeVersion = versionOf(home);
            Path command = home.resolve("bin").resolve(File.separatorChar == '\\' ? "java.exe" : "java");
            if (homeVersion >= version && Files.isExecutable(command)) {
                return command;
            }
            if (homeVersion > 0) {
                tooOld.add("Java " + homeVersion + " in " + home);
            }
        }
        throw new RegistryStartException(
                "no Java " + version
                        + " or newer was found. The registry for tests needs it, because the registry runs in"
                        + " a separate process; your tests can use an older Java. Install one, for example Temurin "
                        + version
                        + ", in a usual folder, or set JAVA_HOME. Found: " + tooOld,
                null);
    }

    /** Returns the feature version in the file {@code release} of a home; 0 if there is no version. */
    private static int versionOf(Path home) {
        Properties release = new Properties();
        try (Reader reader = Files.newBufferedReader(home.resolve("release"))) {
            release.load(reader);
            return Runtime.Version.parse(release.getProperty("JAVA_VERSION", "").replace("\"", ""))
                    .feature();
        } catch (IOException | IllegalArgumentException e) {
            return 0;
        }
    }
}
