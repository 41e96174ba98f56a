package dev.puri.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.cli.imports.ImportFolder.LoadProgress;
import dev.puri.cli.imports.ImportFolder.Plan;
import dev.puri.cli.io.FolderLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ImportFolderTest {
    @TempDir
    private Path path;

    private ImportFolder folder;

    @BeforeEach
    void create() throws Exception {
        folder = new ImportFolder(path);
        Files.writeString(folder.newPlan().resolve("rows.ndjson"), "first\n");
        folder.replacePlan(plan("2026-11-24T10:00:00Z"));
        folder.writeLoad(new LoadProgress("2026-11-24T10:00:00Z", 1, 6, 1, false, Map.of()));
    }

    @Test
    void aPlanThatWasNotCompletedLeavesTheLastOne() throws Exception {
        Files.writeString(folder.newPlan().resolve("rows.ndjson"), "second\n");

        lockAndClose();
        Plan plan = folder.readPlan();
        assertThat(plan.plannedAt()).isEqualTo("2026-11-24T10:00:00Z");
        assertThat(folder.rows()).hasContent("first\n");
        assertThat(folder.readLoad(plan).rows()).isOne();
    }

    /** The process was killed after it had written the new plan, and while it removed the old one. */
    @Test
    void aReplacementThatWasInterruptedIsFinished() throws Exception {
        Path draft = folder.newPlan();
        Files.writeString(draft.resolve("rows.ndjson"), "second\n");
        Files.writeString(draft.resolve("plan.json"), ImportFolder.line(plan("2026-11-24T11:00:00Z")));
        Files.delete(folder.rows());

        lockAndClose();
        Plan plan = folder.readPlan();
        assertThat(plan.plannedAt()).isEqualTo("2026-11-24T11:00:00Z");
        assertThat(folder.rows()).hasContent("second\n");
        assertThat(folder.readLoad(plan).rows()).isZero();
        assertThat(draft).doesNotExist();
    }

    @Test
    void aFolderIsLockedOnce() throws Exception {
        try (FolderLock unused = folder.lock()) {
            assertThatThrownBy(folder::lock).hasMessageContaining("another puri import is running in " + path);
        }
        lockAndClose();
    }

    @Test
    void aFolderThatDoesNotExistHasNoPlan() {
        assertThatThrownBy(new ImportFolder(path.resolve("missing"))::lock)
                .hasMessageContaining("run first: puri import plan");
    }

    private void lockAndClose() throws Exception {
        folder.lock().close();
    }

    private static Plan plan(String plannedAt) {
        return new Plan(plannedAt, "legacy", List.of("a:b"), List.of(), List.of(), 1, 0, 0, Map.of());
    }
}
