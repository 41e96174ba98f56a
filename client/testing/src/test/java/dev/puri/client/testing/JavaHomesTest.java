package dev.puri.client.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JavaHomesTest {
    @TempDir
    private Path folder;

    private Path home(String name, String version) throws IOException {
        Path home = folder.resolve(name);
        Path command = Files.createDirectories(home.resolve("bin")).resolve("java");
        assertThat(Files.createFile(command).toFile().setExecutable(true)).isTrue();
        Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
        return home;
    }

    @Test
    void usesTheFirstJavaThatIsNewEnough() throws IOException {
        Path old = home("17", "17.0.17");
        Path right = home("25", "25.0.1");
        Path newer = home("26", "26");
        assertThat(JavaHomes.commandOf(25, List.of(folder, old, right, newer))).isEqualTo(right.resolve("bin/java"));
    }

    @Test
    void errorListsHomesThatAreTooOld() throws IOException {
        Path old = home("17", "17.0.17");
        assertThatThrownBy(() -> JavaHomes.commandOf(25, List.of(old)))
                .isInstanceOf(RegistryStartException.class)
                .hasMessageContaining("Java 25 or newer")
                .hasMessageContaining("Java 17 in " + old);
    }

    @Test
    void usualPlacesBeginWithThisJvmThenJavaHomeThenThePath() throws IOException {
        Path named = home("named", "25");
        Path onPath = home("on-path", "25");
        Path link = Files.createSymbolicLink(
                Files.createDirectories(folder.resolve("bin")).resolve("java"), onPath.resolve("bin/java"));
        assertThat(JavaHomes.candidates(
                        Map.of("JAVA_HOME", named.toString(), "PATH", String.valueOf(link.getParent())), folder))
                .startsWith(Path.of(System.getProperty("java.home")), named, onPath.toRealPath());
    }

    @Test
    void findsJavaOfTheUsersInstallers() throws IOException {
        Path sdkman = Files.createDirectories(folder.resolve(".sdkman/candidates/java/25.0.1-tem"));
        assertThat(JavaHomes.candidates(Map.of(), folder)).contains(sdkman);
    }

    @Test
    void anUnreadableFolderIsSkipped() throws IOException {
        Path home = home("25", "25");
        Files.createDirectories(folder.resolve(".sdkman/candidates"));
        Files.createFile(folder.resolve(".sdkman/candidates/java"));
        assertThat(JavaHomes.candidates(Map.of("JAVA_HOME", home.toString()), folder))
                .contains(home);
    }

    @Test
    void theLauncherLooksInTheSameFolders() throws IOException {
        String launcher = Files.readString(Path.of("..", "..", "puri"));
        Matcher list = Pattern.compile("candidates\\+=\\((/[^)]*)\\)").matcher(launcher);
        assertThat(list.find()).as("the list of folders in ./puri").isTrue();
        assertThat(list.group(1).replace("\"$HOME\"", "~").split("\\s+"))
                .containsExactlyElementsOf(JavaHomes.INSTALLATION_PATTERNS);
    }
}
