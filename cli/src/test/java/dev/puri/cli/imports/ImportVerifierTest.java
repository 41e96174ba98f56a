package dev.puri.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.cli.imports.ImportFolder.LoadProgress;
import dev.puri.cli.imports.ImportFolder.Plan;
import dev.puri.cli.imports.ImportFolder.VerificationResult;
import dev.puri.client.resolve.Placement;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ImportVerifierTest {
    private static final Instant TIME = Instant.parse("2026-11-24T10:00:00Z");
    private static final Puri TRACK = Puri.parse("music:tracks:1");
    private static final Placement PLACEMENT =
            new Placement(new Owner("catalog"), new Shard("br-1"), new UUID(0x8000, 1L << 63));
    private static final Plan PLAN =
            new Plan(TIME.toString(), "legacy", List.of("music:tracks"), List.of(), List.of(), 1, 0, 0, Map.of());

    @TempDir
    private Path path;

    private ImportFolder folder;

    /** What the progress has shown. */
    private final List<String> progress = new ArrayList<>();

    @BeforeEach
    void load() throws Exception {
        ImportRow row =
                ImportRow.of(0, 1, TRACK, PLACEMENT.uuid(), PLACEMENT.owner(), PLACEMENT.shard(), null, Map.of());
        folder = new ImportFolder(path);
        Files.write(folder.newPlan().resolve("rows.ndjson"), ImportRow.toLines(List.of(row)));
        folder.replacePlan(PLAN);
        folder.writeLoad(new LoadProgress(PLAN.plannedAt(), 1, Files.size(folder.rows()), 1, false, Map.of()));
    }

    /** A claim of a handle is decided after later events of the same partition. */
    @Test
    void aRowThatBecomesEqualDuringTheWaitIsNoDifference() throws Exception {
        AtomicInteger lookUps = new AtomicInteger();
        FakeResolver resolver = new FakeResolver(ref -> lookUps.incrementAndGet() < 3
                ? new Verdict.Unknown(ref)
                : new Verdict.Found(TRACK, null, PLACEMENT, 1, TIME, TIME));
        assertThat(verify(resolver, Duration.ofMinutes(5)).differences()).isZero();
        assertThat(folder.differences()).isEmptyFile();
    }

    @Test
    void aRowThatStaysDifferentIsNamed() throws Exception {
        FakeResolver resolver = new FakeResolver(Verdict.Unknown::new);
        assertThat(verify(resolver, Duration.ZERO).differences()).isOne();
        assertThat(progress).containsExactly("1 of 1");
        assertThat(folder.differences()).content().contains("music:tracks:1", "the registry does not have it");
    }

    private VerificationResult verify(FakeResolver resolver, Duration wait) throws Exception {
        return new ImportVerifier(
                        resolver,
                        wait,
                        Duration.ofMillis(10),
                        null,
                        (done, total) -> progress.add(done + " of " + total))
                .verify(folder, PLAN, TIME);
    }
}
