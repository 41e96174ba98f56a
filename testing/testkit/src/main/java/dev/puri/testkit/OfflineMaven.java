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
 * Runs Maven offline on a project that uses the artifacts of this build. Maven uses a separate local repository. It
 * contains links to all artifacts that this build has downloaded, and the artifacts that the test installs. Environment
 * variables that add arguments or options are not passed on.
 */
public final class OfflineMaven implements AutoCloseable {
    private static final Path GROUP = Path.of("dev", "puri");

    private final Path folder;
    private final Path repository;

    /**
     * The result of a run of Maven.
     *
     * @param status the exit status
     * @param output everything that Maven printed
     */
    public record Run(int status, String output) {}

    private OfflineMaven(Path folder) {
        this.folder = folder;
        this.repository = folder.resolve("repository");
    }

    /**
     * Creates the local repository.
     *
     * @param folder the folder for the local repository and the log
     */
    public static OfflineMaven in(Path folder) throws IOException {
        OfflineMaven maven = new OfflineMaven(folder);
        link(Path.of(property("puri.maven.repository")), maven.repository, GROUP);
        return maven;
    }

    /** Returns the version of this build's artifacts. */
    public static String version() {
        return property("puri.version");
    }

    /**
     * Returns the {@code java} command that runs Maven. If the tests run on a toolchain, Maven may run on an older
     * Java.
     */
    public static Path java() {
        return Path.of(property("puri.maven.java.home"), "bin", "java");
    }

    private static String property(String name) {
        String value = System.getProperty(name);
        if (value == null) {
            throw new IllegalStateException(
                    name + " is not set; the root pom sets it if Maven runs the integration tests");
        }
        return value;
    }

    /** Links all files and folders of a repository except one folder, which is for the artifacts of this build. */
    private static void link(Path from, Path to, Path excludedFolder) throws IOException {
        Files.createDirectories(to);
        Path name = excludedFolder.getName(0);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                if (!file.getFileName().equals(name)) {
                    Files.createSymbolicLink(to.resolve(file.getFileName()), file.toRealPath());
                }
            }
        }
        if (excludedFolder.getNameCount() > 1 && Files.isDirectory(from.resolve(name))) {
            link(from.resolve(name), to.resolve(name), excludedFolder.subpath(1, excludedFolder.getNameCount()));
        }
    }

    /** Installs a pom without a jar, such as a parent or a BOM. */
    public void installPom(String artifact, Path module) throws IOException {
        Path target = Files.createDirectories(
                repository.resolve(GROUP).resolve(artifact).resolve(version()));
        Files.copy(module.resolve("pom.xml"), target.resolve(artifact + "-" + version() + ".pom"));
    }

    /** Installs a module's pom and its jar. */
    public void install(String artifact, Path module) throws IOException {
        installPom(artifact, module);
        String name = artifact + "-" + version() + ".jar";
        Path jar = module.resolve("target").resolve(name);
        assertThat(jar).as("mvn -am verify builds the jars").exists();
        Files.copy(
                jar,
                repository.resolve(GROUP).resolve(artifact).resolve(version()).resolve(name));
    }

    /** Copies the files of a project to a folder that does not exist yet. */
    public static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    /** Runs Maven in a project's folder and waits until it ends, at most five minutes. */
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

    /**
     * Removes the environment variables that give further options to Maven's launcher and to the JVM. It also keeps the
     * launcher from reading {@code ~/.mavenrc}.
     */
    static void isolate(Map<String, String> environment) {
        environment
                .keySet()
                .removeIf(name -> name.startsWith("MAVEN_")
                        || name.equals("JAVA_TOOL_OPTIONS")
                        || name.equals("JDK_JAVA_OPTIONS")
                        || name.equals("_JAVA_OPTIONS"));
        environment.put("MAVEN_SKIP_RC", "true");
    }

    /** Removes the links, because JUnit warns about each link in a temporary folder that it deletes. */
    @Override
    public void close() throws IOException {
        try (Stream<Path> files = Files.walk(repository)) {
            for (Path link : files.filter(Files::isSymbolicLink).toList()) {
                Files.delete(link);
            }
        }
    }
}
