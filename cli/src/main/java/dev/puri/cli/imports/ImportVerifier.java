package dev.puri.cli.imports;

import dev.puri.cli.imports.Import.ProgressListener;
import dev.puri.cli.imports.ImportFolder.LastEvent;
import dev.puri.cli.imports.ImportFolder.LoadProgress;
import dev.puri.cli.imports.ImportFolder.Plan;
import dev.puri.cli.imports.ImportFolder.RowDifference;
import dev.puri.cli.imports.ImportFolder.VerificationResult;
import dev.puri.cli.imports.PlannedRows.Lines;
import dev.puri.cli.io.RateLimiter;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Compares all planned rows with the registry, and writes each difference to a file.
 *
 * <p>It begins when the resolver has read the last event of each partition. At that time some claims of handles may be
 * undecided, and the deletions and merges of their identities wait for the decisions. So the comparison of rows that
 * differ is repeated until they are equal, or the wait is over.
 *
 * <p>If the load published rows again that the registry already had, the resolver may still serve the old rows, which
 * compare as equal. So the topology must be idle when the comparison begins: no lag, and no parked events.
 */
final class ImportVerifier {
    private static final Duration PAUSE = Duration.ofMillis(500);

    private final IdentityResolver resolver;
    private final Duration wait;
    private final Duration pause;
    private final RateLimiter limiter;
    private final ProgressListener progress;

    private long rowCount;
    private long differences;

    /**
     * @param wait time limit for the look-up of each partition's last event, and then for all rows together to become
     *     equal
     * @param maxPerSecond maximum number of rows per second; null for no limit
     * @param progress receives the number of compared rows, after each batch
     */
    ImportVerifier(
            IdentityResolver resolver, Duration wait, @Nullable Integer maxPerSecond, ProgressListener progress) {
        this(resolver, wait, PAUSE, maxPerSecond, progress);
    }

    /**
     * For tests.
     *
     * @param pause the time between two comparisons of the rows that differ
     */
    ImportVerifier(
            IdentityResolver resolver,
            Duration wait,
            Duration pause,
            @Nullable Integer maxPerSecond,
            ProgressListener progress) {
        this.resolver = resolver;
        this.wait = wait;
        this.pause = pause;
        this.limiter = new RateLimiter(maxPerSecond);
        this.progress = progress;
    }

    /** Rows, and the result of the comparison of each with the registry. */
    private record Compared(List<ImportRow> rows, List<RegistryComparison.Result> results) {
        List<ImportRow> differingRows() {
            List<ImportRow> differing = new ArrayList<>();
            for (int i = 0; i < rows.size(); i++) {
                if (difference(results.get(i)) != null) {
                    differing.add(rows.get(i));
                }
            }
            return differing;
        }
    }

    /** Compares rows, and repeats the comparison of those that differ. */
    private final class Comparer {
        private final RegistryComparison registry = new RegistryComparison(resolver, null);
        private final Executor workers;
        private final long startNanos = System.nanoTime();

        Comparer(Executor workers) {
            this.workers = workers;
        }

        CompletableFuture<Compared> compare(List<ImportRow> rows) {
            return registry.compare(rows, workers).thenApply(results -> new Compared(rows, results));
        }

        /** Repeats the comparison of the rows that differ, until they are equal or the wait is over. */
        Compared awaitEqual(Compared compared) throws IOException, InterruptedException {
            Compared last = compared;
            List<ImportRow> differing = last.differingRows();
            boolean isWaiting = true;
            while (!differing.isEmpty() && isWaiting) {
                isWaiting = System.nanoTime() - startNanos < wait.toNanos();
                if (isWaiting) {
                    Thread.sleep(pause);
                }
                // Also when the wait is over: the last result may be old, because earlier batches may have used up the
                // wait.
                last = OrderedTasks.get(compare(differing));
                differing = last.differingRows();
            }
            return last;
        }
    }

    /**
     * Compares the rows of a plan.
     *
     * @throws ImportException if the load is not complete, the resolver does not read its events in time, or the file
     *     of rows does not match the plan
     */
    VerificationResult verify(ImportFolder folder, Plan plan, Instant now) throws IOException, InterruptedException {
        LoadProgress load = folder.readLoad(plan);
        if (load.rows() < plan.rows()) {
            throw new ImportException("only " + load.rows() + " of " + plan.rows()
                    + " rows are loaded; run first: puri import load -d " + folder.path());
        }
        folder.deleteVerification();
        load.lastTokens().values().forEach(this::awaitRead);
        int batchSize = limiter.batchSize(RegistryComparison.MAX_BATCH);
        try (Workers workers = new Workers();
                PlannedRows rows = new PlannedRows(folder.rows(), 0);
                BufferedWriter file = Files.newBufferedWriter(folder.differences())) {
            Comparer comparer = new Comparer(workers.executor());
            OrderedTasks<Compared> comparisons = new OrderedTasks<>(compared -> {
                writeDifferences(comparer.awaitEqual(compared), file);
                rowCount += compared.rows().size();
                progress.show(rowCount, plan.rows());
            });
            for (Lines lines = rows.next(batchSize); lines.rowCount() > 0; lines = rows.next(batchSize)) {
                limiter.await(lines.rowCount());
                Lines batch = lines;
                comparisons.add(CompletableFuture.supplyAsync(batch::rows, workers.executor())
                        .thenCompose(comparer::compare));
            }
            comparisons.finish();
        }
        if (rowCount != plan.rows()) {
            throw new ImportException(
                    folder.rows() + " has " + rowCount + " rows, but the plan has " + plan.rows() + "; plan again");
        }
        VerificationResult verification =
                new VerificationResult(plan.plannedAt(), now.toString(), rowCount, differences);
        folder.writeVerification(verification);
        return verification;
    }

    private void writeDifferences(Compared compared, BufferedWriter file) throws IOException {
        for (int i = 0; i < compared.rows().size(); i++) {
            String detail = difference(compared.results().get(i));
            if (detail != null) {
                differences++;
                file.write(ImportFolder.line(
                        new RowDifference(compared.rows().get(i).puri().toString(), detail)));
            }
        }
    }

    private void awaitRead(LastEvent last) {
        Verdict verdict = resolver.resolve(Ref.of(Puri.parse(last.puri())).at(Position.parse(last.token())), wait);
        if (verdict instanceof Verdict.NotCaughtUp) {
            throw new ImportException("the resolver has not read the event " + last.token() + " of " + last.puri()
                    + " within " + wait.toSeconds() + " s; look at the topology's lag and verify again");
        }
    }

    private static @Nullable String difference(RegistryComparison.Result result) {
        return switch (result) {
            case RegistryComparison.Result.Equal ignored -> null;
            case RegistryComparison.Result.Absent ignored ->
                "the registry does not have it; to see why, run: puri rejections list --puri PURI";
            case RegistryComparison.Result.Different different -> different.detail();
            case RegistryComparison.Result.Malformed malformed -> malformed.detail();
            case RegistryComparison.Result.HandleTaken taken -> taken.detail();
        };
    }
}
