package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.cli.recovery.ExportText;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IdentitiesCommandTest {
    @TempDir
    private Path folder;

    @Test
    void anExportWithoutRowsRestoresNothing() throws Exception {
        Path export = Files.writeString(folder.resolve("export.ndjson"), ExportText.complete());
        CommandLineRun run = CommandLineRun.of(
                Map.of("PURI_BOOTSTRAP_SERVER", "127.0.0.1:1"), "identities", "republish", "-f", export.toString());
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).contains("export.ndjson has no rows, so it restores nothing", "--allow-empty");
    }
}
