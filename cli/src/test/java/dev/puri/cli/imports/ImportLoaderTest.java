package dev.puri.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.cli.imports.ImportFolder.Load;
import dev.puri.cli.imports.ImportFolder.Plan;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

final class ImportLoaderTest {
    private static final int ROWS = 1_000;
    private static final Plan PLAN =
            new Plan("2026-11-24T10:00:00Z", "legacy", List.of("music:tracks"), List.of(), List.of(), ROWS, ROWS, 0, Map.of());

    @TempDir
    private Path path;

    /** At one row per second they would take a quarter of an hour. */
    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void theRateDoesNotCountRowsThatAreNotPublished() throws Exception {
        List<ImportRow> rows = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            Puri puri = Puri.parse("music:tracks:" + i);
            rows.add(ImportRow.of(
                            0, i + 1, puri, new UUID(0x8000, 1L << 63), new Owner("a"), new Shard("b"), null, Map.of())
                    .asPresent());
        }
        ImportFolder folder = new ImportFolder(path);
        Files.write(folder.newPlan().resolve("rows.ndjson"), ImportRow.toLines(rows));
        folder.replacePlan(PLAN);

        Load load;
        // Nothing is published, so nothing is asked for at these addresses.
        try (IdentityPublisher publisher = new IdentityPublisher(
                Map.of("bootstrap.servers", "127.0.0.1:1", "schema.registry.url", "http://127.0.0.1:1"))) {
            load = new ImportLoader(publisher, 1, false, (done, total) -> {}).load(folder, PLAN);
        }
        assertThat(load.rows()).isEqualTo(ROWS);
        assertThat(load.bytes()).isEqualTo(Files.size(folder.rows()));
        assertThat(load.published()).isZero();
    }
}
