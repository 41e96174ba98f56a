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

/** The Java runtimes that are installed where installers usually put them. */
final class JavaHomes {
    private JavaHomes() {}

    /** Where to look, in this order: this JVM's own, {@code JAVA_HOME}, {@code java} on the path, usual folders. */
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
        addChildren(homes, Path.of("/usr/lib/jvm"), "");
        addChildren(homes, user.resolve(".sdkman/candidates/java"), "");
        addChildren(homes, user.resolve(".jdks"), "");
        addChildren(homes, user.resolve(".gradle/jdks"), "");
        addChildren(homes, Path.of("/opt/java"), "");
        addChildren(homes, Path.of("/Library/Java/JavaVirtualMachines"), "Contents/Home");
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
            // It is not there or cannot be read; a Java may be in another place.
        }
    }

    /**
     * The {@code java} command of the first that is new enough.
     *
     * @throws RegistryStartException when none is; the message names those that are too old
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

    /** The feature version that the {@code release} file of a runtime says; 0 where there is none. */
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
