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

/** Finds the Java runtimes that are installed in the usual folders. */
final class JavaHomes {
    /**
     * Homes that installers make, in the order in which {@code ./puri} looks at them too: {@code ~} is the user's home folder,
     * {@code *} any folder.
     */
    static final List<String> INSTALLED = List.of(
            "/usr/lib/jvm/*",
            "~/.sdkman/candidates/java/*",
            "~/.jdks/*",
            "~/.gradle/jdks/*",
            "/opt/java/*",
            "/Library/Java/JavaVirtualMachines/*/Contents/Home");

    private JavaHomes() {}

    /** The homes to try, in this order: this JVM's own, {@code JAVA_HOME}, {@code java} on the path, {@link #INSTALLED}. */
    static List<Path> usual(Map<String, String> environment, Path user) {
        List<Path> homes = new ArrayList<>();
        homes.add(Path.of(System.getProperty("java.home")));
        String named = environment.getOrDefault("JAVA_HOME", "");
        if (!named.isBlank()) {
            homes.add(Path.of(named));
        }
        for (String folder : environment.getOrDefault("PATH", "").split(File.pathSeparator)) {
            Path home = folder.isBlank() ? null : homeOf(Path.of(folder, "java"));
            if (home != null) {
                homes.add(home);
            }
        }
        for (String pattern : INSTALLED) {
            int star = pattern.indexOf('*');
            Path folder = pattern.startsWith("~/")
                    ? user.resolve(pattern.substring(2, star))
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
            // Not in this folder of the path.
            return null;
        }
    }

    private static void addChildren(List<Path> homes, Path folder, String below) {
        try (DirectoryStream<Path> children = Files.newDirectoryStream(folder)) {
            children.forEach(child -> homes.add(child.resolve(below)));
        } catch (IOException | DirectoryIteratorException e) {
            // The folder is absent or unreadable; a Java may be in another one.
        }
    }

    /**
     * Returns the {@code java} command of the first home that is new enough.
     *
     * @throws RegistryStartException if none is; the message names the homes that are too old
     */
    static Path commandOf(int version, List<Path> homes) {
        List<String> tooOld = new ArrayList<>();
        for (Path home : homes) {
            int found = versionOf(home);
            Path command = home.resolve("bin").resolve(File.separatorChar == '\\' ? "java.exe" : "java");
            if (found >= version && Files.isExecutable(command)) {
                return command;
            }
            if (found > 0) {
                tooOld.add("Java " + found + " in " + home);
            }
        }
        throw new RegistryStartException(
                "the registry for tests runs as a process of its own and needs a Java " + version
                        + " or newer, which was not found; your tests may stay on theirs. Install one, e.g. Temurin "
                        + version
                        + ", in a usual folder or let JAVA_HOME name it. Found: " + tooOld,
                null);
    }

    /** The feature version in the {@code release} file of a home; 0 if it has none. */
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
