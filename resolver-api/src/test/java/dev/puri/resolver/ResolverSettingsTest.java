package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.settings.InvalidSettingsException;
import dev.puri.settings.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ResolverSettingsTest {
    @TempDir
    private Path folder;

    @Test
    void anUnusableStateFolderIsReportedAtOnce() throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "");

        assertThatThrownBy(() -> read(file))
                .isInstanceOf(InvalidSettingsException.class)
                .hasMessageContaining("PURI_STATE_DIR: " + file + " is not a directory");
        assertThatThrownBy(() -> read(file.resolve("below")))
                .hasMessageContaining("PURI_STATE_DIR: " + file + " is not a directory");
    }

    @Test
    void aStateFolderMayBeCreatedLater() {
        Path later = folder.resolve("one/two");

        assertThat(read(later).stateDir()).contains(later);
        assertThat(later).doesNotExist();
    }

    @Test
    void theMessageAboutARefusedUrlDoesNotHaveItsPassword() {
        assertThatThrownBy(() -> read("PURI_SEARCH_URL", "http://user:secret@search:8083"))
                .isInstanceOf(InvalidSettingsException.class)
                .hasMessageContaining("PURI_SEARCH_URL: \"http://********@search:8083\" is no base URL")
                .hasMessageContaining("without user")
                .hasMessageNotContaining("secret");
    }

    private static ResolverSettings read(Path stateDir) {
        return read("PURI_STATE_DIR", stateDir.toString());
    }

    private static ResolverSettings read(String variable, String value) {
        return Settings.read(ResolverSettings.class, Map.of(), Map.of(variable, value), null);
    }
}
