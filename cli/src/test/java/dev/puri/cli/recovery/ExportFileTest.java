package dev.puri.cli.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExportFileTest {
    private static final String ROW = "{\"puri\":\"a:b:1\",\"owner\":\"o\",\"shard\":\"s\",\"uuid\":"
            + "\"01970000-0000-7000-8000-000000000001\",\"status\":\"active\",\"epoch\":3}\n";

    @TempDir
    private Path folder;

    @Test
    void returnsTheRowsOfACompleteExport() throws Exception {
        try (ExportFile export = ExportFile.open(file(ExportText.complete(ROW, ROW)))) {
            assertThat(export.rows()).isEqualTo(2);
            JsonNode row = export.next();
            assertThat(row).isNotNull();
            assertThat(row.path("puri").asText()).isEqualTo("a:b:1");
            assertThat(export.next()).isNotNull();
            assertThat(export.next()).isNull();
        }
        try (ExportFile empty = ExportFile.open(file(ExportText.complete()))) {
            assertThat(empty.next()).isNull();
        }
    }

    @Test
    void refusesAPartOfAnExport() throws Exception {
        String whole = ExportText.complete(ROW, ROW);
        assertThatThrownBy(() -> ExportFile.open(file(whole.substring(0, whole.length() - 1))))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is incomplete");
        assertThatThrownBy(() -> ExportFile.open(file(whole.substring(0, 40)))).hasMessageContaining("is incomplete");
        assertThatThrownBy(() -> ExportFile.open(file(""))).hasMessageContaining("is incomplete");
        assertThatThrownBy(() -> ExportFile.open(file(whole.replaceFirst("a:b:1", "a:b:2"))))
                .hasMessageContaining("was changed");
        assertThatThrownBy(() -> ExportFile.open(file(whole.replaceFirst("a:b:1.*\n.*a:b:1", "a:b:1"))))
                .hasMessageContaining("was changed");
        assertThatThrownBy(() -> ExportFile.open(file(ROW + ROW + "{\"rows\":1,\"sha256\":\"\"}\n")))
                .hasMessageContaining("is no export");
    }

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("export.ndjson"), text);
    }
}
