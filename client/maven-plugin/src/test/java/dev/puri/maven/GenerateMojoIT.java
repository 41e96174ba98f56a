package dev.puri.maven;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The project in {@code src/it/music}, built by a Maven of its own that may not use the network. Its local repository has
 * links to all that this build has downloaded, and the artifacts that this build has made.
 */
class GenerateMojoIT {
    private static final String VERSION = System.getProperty("puri.version");

    @TempDir
    private Path folder;

    private Path repository;
    private Path project;

    private record Run(int status, String out) {}

    @BeforeEach
    void prepare() throws IOException {
        repository = folder.resolve("repository");
        project = folder.resolve("music");
        copy(Path.of("src/it/music"), project);
        link(Path.of(System.getProperty("puri.maven.repository")), repository, Path.of("dev", "puri"));
        Path root = Path.of("../..");
        install("puri", root.resolve("pom.xml"), null);
        install("schemas", root.resolve("schemas"));
        install("client", root.resolve("client/core"));
        install("client-declarations", root.resolve("client/declarations"));
        install("puri-maven-plugin", root.resolve("client/maven-plugin"));
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path each : files.toList()) {
                Files.copy(each, to.resolve(from.relativize(each).toString()));
            }
        }
    }

    /** Links every folder of a repository but this one, whose place is left for artifacts of this build. */
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

    /** Before JUnit removes the folder: it would warn of each link. */
    @AfterEach
    void unlink() throws IOException {
        try (Stream<Path> files = Files.walk(repository)) {
            for (Path each : files.filter(Files::isSymbolicLink).toList()) {
                Files.delete(each);
            }
        }
    }

    private void install(String artifact, Path module) throws IOException {
        Path jar = module.resolve("target/" + artifact + "-" + VERSION + ".jar");
        assertThat(jar)
                .as("run this test by mvn -am verify, which makes the jars")
                .exists();
        install(artifact, module.resolve("pom.xml"), jar);
    }

    private void install(String artifact, Path pom, Path jar) throws IOException {
        Path place = Files.createDirectories(repository.resolve("dev/puri/" + artifact + "/" + VERSION));
        Files.copy(pom, place.resolve(artifact + "-" + VERSION + ".pom"));
        if (jar != null) {
            Files.copy(jar, place.resolve(artifact + "-" + VERSION + ".jar"));
        }
    }

    private Run maven(String... arguments) throws IOException, InterruptedException {
        Path log = folder.resolve("maven.log");
        List<String> command = Stream.concat(
                        Stream.of(
                                System.getProperty("puri.maven.home") + "/bin/mvn",
                                "-o",
                                "-B",
                                "-ntp",
                                "-Dstyle.color=never",
                                "-Dmaven.repo.local=" + repository,
                                "-Dpuri.version=" + VERSION),
                        Stream.of(arguments))
                .toList();
        Process process = new ProcessBuilder(command)
                .directory(project.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
            return new Run(process.exitValue(), Files.readString(log, StandardCharsets.UTF_8));
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void aServiceIsBuiltThatNamesItsCollectionsByConstants() throws Exception {
        Run run = maven("compile");
        assertThat(run.status()).as(run.out()).isZero();

        Path generated = project.resolve("target/generated-sources/puri/com/example/names");
        assertThat(generated.resolve("Music.java")).exists();
        assertThat(generated.resolve("Revenue.java")).exists();
        URL classes = project.resolve("target/classes").toUri().toURL();
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {classes}, getClass().getClassLoader())) {
            assertThat(loader.loadClass("com.example.Songs").getMethod("names").invoke(null))
                    .isEqualTo("music:tracks:blue%2F1 pls trk null");
        }
    }

    @Test
    void mistakesOfTheFileFailTheBuildTogetherWithTheirLines() throws Exception {
        Files.writeString(project.resolve("src/main/puri/collections.yaml"), """
                collections:
                  - name: music
                  - name: music:tracks
                    prefx: trk
                """);
        Run run = maven("generate-sources");
        assertThat(run.status()).isNotZero();
        assertThat(run.out())
                .contains("collections.yaml:2: name: music is not namespace:collection")
                .contains("collections.yaml:4: unknown key \"prefx\" in a collection");
    }
}
