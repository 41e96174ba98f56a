package dev.puri.cli.imports;

import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Placement;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Compares planned rows with what the resolvers answer.
 *
 * @param collectionsWithRows the collections that have rows in the registry; null if they are not known. Rows of other
 *     collections are not looked up: they are absent, and so are their handles, because the prefix of a handle belongs
 *     to one collection
 */
record RegistryComparison(
        IdentityResolver resolver, @Nullable Set<String> collectionsWithRows) {
    /** The maximum number of rows in a request. A row has at most three references. */
    static final int MAX_BATCH = 500;

    /** The result of the comparison of a row with the registry. */
    sealed interface Result {
        /** The registry has neither the pURI nor the handle. */
        record Absent() implements Result {}

        /** The registry has the identity as planned. */
        record Equal() implements Result {}

        /** The registry has the pURI with other content. */
        record Different(String detail) implements Result {}

        /** The resolver refuses the pURI. */
        record Malformed(String detail) implements Result {}

        /** The registry does not have the pURI, but has the handle for another one. */
        record HandleTaken(String detail) implements Result {}
    }

    private static final Result ABSENT = new Result.Absent();
    private static final Result EQUAL = new Result.Equal();

    /**
     * Compares rows.
     *
     * @param workers prepare the requests and compare the answers
     * @return the result for each row, in their order. Fails with a {@link dev.puri.client.resolve.ResolverException}
     *     if the resolver cannot answer, for example because its table is not complete
     */
    CompletableFuture<List<Result>> compare(List<ImportRow> rows, Executor workers) {
        if (rows.stream().noneMatch(this::isLookedUp)) {
            return CompletableFuture.completedFuture(Collections.nCopies(rows.size(), ABSENT));
        }
        return CompletableFuture.supplyAsync(() -> refs(rows), workers)
                .thenCompose(refs -> resolver.resolveAllAsync(refs, Duration.ZERO))
                .thenApplyAsync(verdicts -> compare(rows, verdicts), workers);
    }

    private boolean isLookedUp(ImportRow row) {
        return collectionsWithRows == null || collectionsWithRows.contains(row.collection());
    }

    private List<Ref> refs(List<ImportRow> rows) {
        List<Ref> refs = new ArrayList<>(2 * rows.size());
        for (ImportRow row : rows) {
            if (!isLookedUp(row)) {
                continue;
            }
            refs.add(Ref.of(row.puri()));
            if (row.handle() != null) {
                refs.add(Ref.of(row.handle()));
            }
            Puri survivor = survivor(row);
            if (survivor != null) {
                refs.add(Ref.of(survivor));
            }
        }
        return refs;
    }

    private List<Result> compare(List<ImportRow> rows, List<Verdict> verdicts) {
        List<Result> results = new ArrayList<>(rows.size());
        int next = 0;
        for (ImportRow row : rows) {
            if (!isLookedUp(row)) {
                results.add(ABSENT);
                continue;
            }
            Verdict ofPuri = verdicts.get(next++);
            Verdict ofHandle = row.handle() == null ? null : verdicts.get(next++);
            Verdict ofSurvivor = survivor(row) == null ? null : verdicts.get(next++);
            results.add(compare(row, ofPuri, ofHandle, ofSurvivor));
        }
        return results;
    }

    private static @Nullable Puri survivor(ImportRow row) {
        return row.end() == null ? null : row.end().mergedInto();
    }

    private static Result compare(
            ImportRow row, Verdict ofPuri, @Nullable Verdict ofHandle, @Nullable Verdict ofSurvivor) {
        return switch (ofPuri) {
            case Verdict.Found found -> row.end() == null ? compare(row, found) : stillActive(row);
            case Verdict.Unknown ignored -> {
                Puri holder = ofHandle == null ? null : holder(ofHandle);
                yield holder == null
                        ? ABSENT
                        : new Result.HandleTaken("the registry has the handle " + row.handle() + " for " + holder);
            }
            case Verdict.Merged merged ->
                ofSurvivor != null && isMergedAs(merged, row, ofSurvivor)
                        ? result(handleDifference(row, merged.handle()))
                        : new Result.Different(
                                merged.canonical() == null
                                        ? "it was merged, and its survivor is not known"
                                        : "it was merged into " + merged.canonical());
            case Verdict.Deleted deleted ->
                isDeletedAs(deleted, row)
                        ? result(handleDifference(row, deleted.handle()))
                        : new Result.Different("it was deleted");
            case Verdict.Malformed malformed -> new Result.Malformed("the resolver refuses it: " + malformed.detail());
            case Verdict.NotCaughtUp ignored -> throw unexpected(ofPuri);
            case Verdict.Refused ignored -> throw unexpected(ofPuri);
        };
    }

    /**
     * Whether an identity was merged into the row's survivor. A resolver answers with the last survivor of a chain of
     * merges, so an identity and its direct survivor have the same last survivor. It does not follow a long chain to
     * its end. Then the direct survivor must be merged too, but its own chain may be short enough.
     */
    private static boolean isMergedAs(Verdict.Merged merged, ImportRow row, Verdict ofSurvivor) {
        if (merged.canonical() == null) {
            return ofSurvivor instanceof Verdict.Merged
                    || (ofSurvivor instanceof Verdict.Deleted deleted && deleted.canonical() != null);
        }
        Puri canonical = ofSurvivor instanceof Verdict.Merged next ? next.canonical() : survivor(row);
        return Objects.equals(merged.canonical(), canonical);
    }

    /** Whether an identity ended as the row says: it was deleted, or it was merged and its survivor was deleted. */
    private static boolean isDeletedAs(Verdict.Deleted deleted, ImportRow row) {
        return row.end() != null && (survivor(row) == null) == (deleted.canonical() == null);
    }

    private static Result stillActive(ImportRow row) {
        return new Result.Different(
                "the row has it as " + (survivor(row) == null ? "deleted" : "merged into " + survivor(row))
                        + ", but the registry has it as active");
    }

    private static Result compare(ImportRow row, Verdict.Found found) {
        List<String> differences = new ArrayList<>();
        Placement placement = found.placement();
        addDifference(differences, "uuid", row.uuid(), placement.uuid());
        addDifference(differences, "owner", row.owner(), placement.owner());
        addDifference(differences, "shard", row.shard(), placement.shard());
        differences.addAll(handleDifference(row, found.handle()));
        return result(differences);
    }

    private static List<String> handleDifference(ImportRow row, @Nullable Handle registered) {
        List<String> differences = new ArrayList<>();
        addDifference(differences, "handle", row.handle(), registered);
        return differences;
    }

    private static Result result(List<String> differences) {
        return differences.isEmpty() ? EQUAL : new Result.Different(String.join("; ", differences));
    }

    private static void addDifference(
            List<String> differences, String field, @Nullable Object planned, @Nullable Object registered) {
        if (!Objects.equals(planned, registered)) {
            differences.add(field + ": the row has " + planned + ", the registry has " + registered);
        }
    }

    private static @Nullable Puri holder(Verdict verdict) {
        return switch (verdict) {
            case Verdict.Found found -> found.puri();
            case Verdict.Merged merged -> merged.puri();
            case Verdict.Deleted deleted -> deleted.puri();
            default -> null;
        };
    }

    private static IllegalStateException unexpected(Verdict verdict) {
        return new IllegalStateException("a look-up without a token has the verdict " + verdict);
    }
}
