package dev.puri.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.cli.imports.ImportFolder.LoadProgress;
import dev.puri.cli.imports.ImportFolder.Plan;
import dev.puri.cli.imports.ImportFolder.VerificationResult;
import dev.puri.client.IdentityPublisher;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

final class ImportLoaderTest {
    private static final int ROWS = 1_000;
    private static final String TIME = "2026-11-24T10:00:00Z";
    private static final Plan PLAN =
            new Plan(TIME, "legacy", List.of("music:tracks"), List.of(), List.of(), ROWS, ROWS, 0, Map.of());

    @TempDir
    private Path path;

    private ImportFolder folder;

    /** What the progress has shown. */
    private final List<String> progress = new ArrayList<>();

    @BeforeEach
    void plan() throws Exception {
        List<ImportRow> rows = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            Puri puri = Puri.parse("music:tracks:" + i);
            rows.add(ImportRow.of(
                            0, i + 1, puri, new UUID(0x8000, 1L << 63), new Owner("a"), new Shard("b"), null, Map.of())
                    .asExisting());
        }
        folder = new ImportFolder(path);
        Files.write(folder.newPlan().resolve("rows.ndjson"), ImportRow.toLines(rows));
        folder.replacePlan(PLAN);
    }

    /** At one row per second they would take a quarter of an hour. */
    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void theRateDoesNotCountRowsThatAreNotPublished() throws Exception {
        LoadProgress load = load(1, false);
        assertThat(load.rows()).isEqualTo(ROWS);
        assertThat(load.bytes()).isEqualTo(Files.size(folder.rows()));
        assertThat(load.published()).isZero();
        assertThat(progress.getLast()).isEqualTo(ROWS + " of " + ROWS);
    }

    /** A load without the existing rows is complete, one with them ends before its first batch. */
    @Test
    void aLoadThatWasInterruptedIsContinuedWithThePresentRows() throws Exception {
        load(null, false);
        assertThatThrownBy(() -> load(null, true)).hasMessageContaining("was not acknowledged");
        LoadProgress interrupted = folder.readLoad(PLAN);
        assertThat(interrupted.rows()).isZero();
        assertThat(interrupted.publishesExisting()).isTrue();
        assertThatThrownBy(() -> load(null, false)).hasMessageContaining("was not acknowledged");

        folder.writeLoad(new LoadProgress(TIME, ROWS / 2, bytesOf(ROWS / 2), ROWS / 2, true, Map.of()));
        assertThatThrownBy(() -> load(null, false)).hasMessageContaining("was not acknowledged");
        assertThat(folder.readLoad(PLAN).rows()).isEqualTo(ROWS / 2);
    }

    @Test
    void aVerificationDoesNotCountForRowsThatAreLoadedAfterIt() throws Exception {
        folder.writeVerification(new VerificationResult(TIME, TIME, ROWS, 0));
        load(null, false);
        assertThat(folder.readVerification(PLAN)).isNull();

        folder.writeVerification(new VerificationResult(TIME, TIME, ROWS, 0));
        load(null, false);
        assertThat(folder.readVerification(PLAN)).as("nothing was left to load").isNotNull();

        assertThatThrownBy(() -> load(null, true)).hasMessageContaining("was not acknowledged");
        assertThat(folder.readVerification(PLAN)).isNull();
    }

    /** Loads with a publisher that is closed: each event fails. */
    private LoadProgress load(@Nullable Integer maxPerSecond, boolean publishExisting) throws Exception {
        IdentityPublisher publisher = new IdentityPublisher(
                Map.of("bootstrap.servers", "127.0.0.1:1", "schema.registry.url", "http://127.0.0.1:1"));
        publisher.close();
        return new ImportLoader(
                        publisher, maxPerSecond, publishExisting, (done, total) -> progress.add(done + " of " + total))
                .load(folder, PLAN);
    }

    private long bytesOf(int rows) throws Exception {
        try (PlannedRows reader = new PlannedRows(folder.rows(), 0)) {
            return reader.next(rows).endBytes();
        }
    }
}
