package dev.puri.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerifyFolderTest {
    private static final Difference DIFFERENCE = new Difference(
            "registrar",
            "puri.identities.v1",
            3,
            "music:tracks:1",
            null,
            Difference.Kind.DIFFERS,
            Map.of("shard", new Difference.Field("br-1", "br-2")),
            null);

    @TempDir
    private Path path;

    @Test
    void aDamagedDifferenceIsAnErrorThatNamesTheLineAndTheRemedy() throws Exception {
        VerifyFolder folder = new VerifyFolder(path);
        try (OutputStream differences = folder.openDifferences(0)) {
            differences.write(VerifyFolder.line(DIFFERENCE));
        }
        List<Difference> read = new ArrayList<>();
        folder.forEachDifference(read::add);
        assertThat(read).containsExactly(DIFFERENCE);

        Files.writeString(folder.differences(), "{\"part\":", StandardOpenOption.APPEND);
        assertThatThrownBy(() -> folder.forEachDifference(difference -> {}))
                .isInstanceOf(VerifyException.class)
                .hasMessageContaining("line 2 of " + folder.differences())
                .hasMessageContaining("--restart");
    }
}
