package dev.puri.maven;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.testkit.OfflineMaven;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The project in {@code src/it/music}, built by a Maven of its own. */
class GenerateMojoIT {
    @TempDir
    private Path folder;

    private OfflineMaven maven;
    private Path project;

    @BeforeEach
    void prepare() throws Exception {
        project = folder.resolve("music");
        OfflineMaven.copy(Path.of("src/it/music"), project);
        maven = OfflineMaven.in(folder);
        Path root = Path.of("../..");
        maven.install(List.of(
                root,
                root.resolve("schemas"),
                root.resolve("client/core"),
                root.resolve("client/declarations"),
                root.resolve("client/maven-plugin")));
    }

    @AfterEach
    void close() throws IOException {
        maven.close();
    }

    @Test
    void aServiceIsBuiltThatNamesItsCollectionsByConstants() throws Exception {
        OfflineMaven.Run run = maven.run(project, "compile");
        assertThat(run.status()).as(run.output()).isZero();

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
        OfflineMaven.Run run = maven.run(project, "generate-sources");
        assertThat(run.status()).isNotZero();
        assertThat(run.output())
                .contains("collections.yaml:2: name: music is not namespace:collection")
                .contains("collections.yaml:4: unknown key \"prefx\" in a collection");
    }
}
