package dev.puri.client.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StackFilesTest {
    private static final String FOLDER = "dev/puri/client/testing/stack/";

    @TempDir
    private Path folder;

    private URL jar(String name, String... more) throws IOException {
        Path jar = folder.resolve(name);
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            add(out, "META-INF/other.txt", "not of the stack");
            add(out, FOLDER + "stack.properties", "java = 25\nmain = com.example.Main\narguments = one two\n");
            add(out, FOLDER + "lib/a.jar", "a");
            for (String each : more) {
                add(out, each, "more");
            }
        }
        return new URL("jar:" + jar.toUri() + "!/" + FOLDER + "stack.properties");
    }

    private static void add(JarOutputStream out, String name, String content) throws IOException {
        out.putNextEntry(new JarEntry(name));
        out.write(content.getBytes(StandardCharsets.UTF_8));
        out.closeEntry();
    }

    private List<Path> unpacked(Path cache) throws IOException {
        try (Stream<Path> folders = Files.list(cache)) {
            return folders.toList();
        }
    }

    @Test
    void stacksWithTheSameContentAreUnpackedOnce() throws IOException {
        Path cache = folder.resolve("cache");
        StackFiles first = StackFiles.of(jar("one.jar"), cache);
        assertThat(first.minJavaVersion()).isEqualTo(25);
        assertThat(first.main()).isEqualTo("com.example.Main");
        assertThat(first.arguments()).containsExactly("one", "two");
        assertThat(first.folder().resolve("lib/a.jar")).hasContent("a");
        assertThat(first.folder().resolve("META-INF")).doesNotExist();

        Path mark = Files.createFile(first.folder().resolve("mark"));
        assertThat(StackFiles.of(jar("copy.jar"), cache)).isEqualTo(first);
        assertThat(mark).exists();

        assertThat(StackFiles.of(jar("other.jar", FOLDER + "lib/b.jar"), cache).folder())
                .isNotEqualTo(first.folder());
        assertThat(unpacked(cache)).hasSize(2);
    }

    @Test
    void aStackThatLostItsDescriptionIsUnpackedAgain() throws IOException {
        Path cache = folder.resolve("cache");
        Path stack = StackFiles.of(jar("one.jar"), cache).folder();
        Files.delete(stack.resolve("stack.properties"));
        Files.delete(stack.resolve("lib/a.jar"));

        assertThat(StackFiles.of(jar("one.jar"), cache).folder()).isEqualTo(stack);
        assertThat(stack.resolve("lib/a.jar")).hasContent("a");
        assertThat(unpacked(cache)).containsExactly(stack);
    }

    @Test
    void anEntryOutsideTheFolderIsRefused() throws IOException {
        URL jar = jar("bad.jar", FOLDER + "../../../../../../outside");
        assertThatThrownBy(() -> StackFiles.of(jar, folder.resolve("cache")))
                .isInstanceOf(RegistryStartException.class)
                .hasMessageContaining("an entry outside its folder");
    }

    @Test
    void jarsThatWereNotBuiltAreMissed() throws IOException {
        Path classes = Files.createDirectories(folder.resolve(FOLDER));
        URL description =
                Files.createFile(classes.resolve("stack.properties")).toUri().toURL();
        assertThatThrownBy(() -> StackFiles.of(description, folder)).hasMessageContaining("mvn package -pl");
    }

    @Test
    void theCacheIsTheUsersUnlessItIsNamed() {
        Path user = Path.of("/home/ada");
        assertThat(StackFiles.cache(Map.of(), user)).isEqualTo(Path.of("/home/ada/.cache/puri/testing-stack"));
        assertThat(StackFiles.cache(Map.of("XDG_CACHE_HOME", "/cache"), user))
                .isEqualTo(Path.of("/cache/puri/testing-stack"));
        assertThat(StackFiles.cache(Map.of("PURI_TEST_CACHE", "/ci"), user))
                .isEqualTo(Path.of("/ci/puri-testing-stack"));
        assertThat(StackFiles.cache(Map.of("PURI_TEST_CACHE", "relative"), user))
                .isAbsolute();
    }
}
