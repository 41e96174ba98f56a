package dev.puri.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs Maven on a project that uses this build's artifacts, without the network. Its local repository is a folder of its own,
 * with links to the artifacts that this build has downloaded, and with those that the test installs. Variables of the
 * environment that add arguments or options are not passed on.
 */
public final class OfflineMaven implements AutoCloseable {
    private static final Path GROUP = Path.of("dev", "puri");

    private final Path folder;
    private final Path repository;

    /** How a run of Maven ended, with all that it printed. */
    public record Run(int status, String output) {}

    private OfflineMaven(Path folder) {
        this.folder = folder;
        this.repository = folder.resolve("repository");
    }

    /**
     * Lays out the local repository.
     *
     * @param folder for the repository and the log
     */
    public static OfflineMaven in(Path folder) throws IOException {
        OfflineMaven maven = new OfflineMaven(folder);
        link(Path.of(property("puri.maven.repository")), maven.repository, GROUP);
        return maven;
    }

    /** The version of this build's artifacts. */
    public static String version() {
        return property("puri.version");
    }

    /** The {@code java} command that runs Maven. It is older than that of the tests if they run on a toolchain. */
    public static Path java() {
        return Path.of(property("puri.maven.java.home"), "bin", "java");
    }

    private static String property(String name) {
        String value = System.getProperty(name);
        if (value == null) {
            throw new IllegalStateException(
                    name + " is not set; the root pom sets it for integration tests that Maven runs");
        }
        return value;
    }

    /** Links every folder of a repository but one, which is left for artifacts of this build. */
    private static void link(Path from, Path to, Path without) throws IOException {
        Files.createDirectories(to);
        Path name = without.getName(0);
        try (Stream<Path> files = Files.list(from)) {
            for (Path each : files.toList()) {
                if (!each.getFileName().equals(name)) {
                    Files.createSymbolicLink(to.resolve(each.getFileName()), each.toRealPath());
                }
            }
        }
        if (without.getNameCount() > 1 && Files.isDirectory(from.resolve(name))) {
            link(from.resolve(name), to.resolve(name), without.subpath(1, without.getNameCount()));
        }
    }

    /** Installs a pom without a jar, such as a parent or a BOM. */
    public void installPom(String artifact, Path module) throws IOException {
        Path place = Files.createDirectories(
                repository.resolve(GROUP).resolve(artifact).resolve(version()));
        Files.copy(module.resolve("pom.xml"), place.resolve(artifact + "-" + version() + ".pom"));
    }

    /** Installs a module's pom and its jar. */
    public void install(String artifact, Path module) throws IOException {
        installPom(artifact, module);
        String name = artifact + "-" + version() + ".jar";
        Path jar = module.resolve("target").resolve(name);
        assertThat(jar).as("jars are made by mvn -am verify").exists();
        Files.copy(
                jar,
                repository.resolve(GROUP).resolve(artifact).resolve(version()).resolve(name));
    }

    /** Copies the files of a project, whose folder must not be there yet. */
    public static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path each : files.toList()) {
                Files.copy(each, to.resolve(from.relativize(each).toString()));
            }
        }
    }

    /** Runs Maven in a project's folder and waits for its end, for five minutes at most. */
    public Run run(Path project, String... arguments) throws IOException, InterruptedException {
        Path log = folder.resolve("maven.log");
        List<String> command = Stream.concat(
                        Stream.of(
                                property("puri.maven.home") + "/bin/mvn",
                                "-o",
                                "-B",
                                "-ntp",
                                "-Dstyle.color=never",
                                "-Dmaven.repo.local=" + repository,
                                "-Dpuri.version=" + version()),
                        Stream.of(arguments))
                .toList();
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(project.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        isolate(builder.environment());
        builder.environment().put("JAVA_HOME", property("puri.maven.java.home"));
        Process process = builder.start();
        try {
            assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
            return new Run(process.exitValue(), Files.readString(log, StandardCharsets.UTF_8));
        } finally {
            process.destroyForcibly();
        }
    }

    /** Removes what Maven's launcher and the JVM read beside their arguments, and keeps the launcher from {@code ~/.mavenrc}. */
    static void isolate(Map<String, String> environment) {
        environment
                .keySet()
                .removeIf(name -> name.startsWith("MAVEN_")
                        || name.equals("JAVA_TOOL_OPTIONS")
                        || name.equals("JDK_JAVA_OPTIONS")
                        || name.equals("_JAVA_OPTIONS"));
        environment.put("MAVEN_SKIP_RC", "true");
    }

    /** Removes the links; JUnit warns of each link in a folder that it removes. */
    @Override
    public void close() throws IOException {
        try (Stream<Path> files = Files.walk(repository)) {
            for (Path each : files.filter(Files::isSymbolicLink).toList()) {
                Files.delete(each);
            }
        }
    }
}
