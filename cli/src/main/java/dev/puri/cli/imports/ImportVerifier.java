package dev.puri.cli.imports;

import dev.puri.cli.imports.ImportFolder.Difference;
import dev.puri.cli.imports.ImportFolder.LastEvent;
import dev.puri.cli.imports.ImportFolder.Load;
import dev.puri.cli.imports.ImportFolder.Plan;
import dev.puri.cli.imports.ImportFolder.Verification;
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
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Compares all planned rows with the registry, and writes each difference to a file. */
final class ImportVerifier {
    private final IdentityResolver resolver;
    private final Duration wait;
    private final LongConsumer progress;

    /**
     * @param wait how long the resolver may take to read the last events of the load
     * @param progress gets the number of compared rows, after each batch
     */
    ImportVerifier(IdentityResolver resolver, Duration wait, LongConsumer progress) {
        this.resolver = resolver;
        this.wait = wait;
        this.progress = progress;
    }

    /**
     * Compares the rows of a plan.
     *
     * @throws ImportException if the load is not complete, or the resolver has not read its events
     */
    Verification verify(ImportFolder folder, Plan plan, Instant now) throws IOException {
        Load load = folder.readLoad(plan);
        if (load.rows() < plan.rows()) {
            throw new ImportException("only " + load.rows() + " of " + plan.rows()
                    + " rows are loaded; run first: puri import load -d " + folder.path());
        }
        load.lastTokens().values().forEach(this::awaitRead);
        RegistryComparison registry = new RegistryComparison(resolver);
        long rowCount = 0;
        long differences = 0;
        try (PlannedRows rows = new PlannedRows(folder.rows(), 0);
                BufferedWriter file = Files.newBufferedWriter(folder.differences())) {
            for (List<ImportRow> batch = rows.next(RegistryComparison.BATCH);
                    !batch.isEmpty();
                    batch = rows.next(RegistryComparison.BATCH)) {
                List<RegistryComparison.Result> results = registry.compare(batch);
                for (int i = 0; i < batch.size(); i++) {
                    String detail = difference(results.get(i));
                    if (detail != null) {
                        differences++;
                        file.write(ImportFolder.line(new Difference(batch.get(i).puri(), detail)));
                    }
                }
                rowCount += batch.size();
                progress.accept(rowCount);
            }
        }
        if (rowCount != plan.rows()) {
            throw new ImportException(
                    folder.rows() + " has " + rowCount + " rows, but the plan has " + plan.rows() + "; plan again");
        }
        Verification verification = new Verification(plan.plannedAt(), now.toString(), rowCount, differences);
        folder.writeVerification(verification);
        return verification;
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
                "the registry does not have it; puri rejections list --puri has the reason";
            case RegistryComparison.Result.Different different -> different.detail();
            case RegistryComparison.Result.HandleTaken taken -> taken.detail();
        };
    }
}
