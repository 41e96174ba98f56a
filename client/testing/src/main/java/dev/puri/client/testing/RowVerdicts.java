package dev.puri.client.testing;

import dev.puri.client.resolve.Placement;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Converts rows to verdicts, and follows merges like a resolver. */
final class RowVerdicts {
    private static final int MAX_MERGES = 8;

    private RowVerdicts() {}

    /**
     * @param rows returns the row of a pURI, or null if there is no row
     */
    static Verdict verdict(Puri puri, Row row, Function<Puri, @Nullable Row> rows) {
        return switch (row.status()) {
            case ACTIVE ->
                new Verdict.Found(puri, row.handle(), placement(row), row.epoch(), row.createdAt(), row.changedAt());
            case DELETED -> deleted(puri, row, null);
            case MERGED -> merged(puri, row, rows);
        };
    }

    private static Verdict merged(Puri puri, Row row, Function<Puri, @Nullable Row> rows) {
        Set<Puri> visited = new LinkedHashSet<>();
        Puri current = puri;
        Puri survivor = survivorOf(row);
        while (visited.size() < MAX_MERGES) {
            visited.add(current);
            if (visited.contains(survivor)) {
                return merged(puri, row, null, null, "its chain of merges leads back to " + survivor);
            }
            Row survivorRow = rows.apply(survivor);
            if (survivorRow == null) {
                return merged(puri, row, survivor, null, "it was merged into " + survivor + ", which is not known");
            }
            switch (survivorRow.status()) {
                case ACTIVE -> {
                    return merged(puri, row, survivor, placement(survivorRow), null);
                }
                case DELETED -> {
                    return deleted(puri, row, survivor);
                }
                case MERGED -> {
                    current = survivor;
                    survivor = survivorOf(survivorRow);
                }
            }
        }
        return merged(puri, row, null, null, "its chain of merges is longer than " + MAX_MERGES);
    }

    private static Puri survivorOf(Row merged) {
        return Objects.requireNonNull(merged.mergedInto());
    }

    private static Verdict merged(
            Puri puri, Row row, @Nullable Puri canonical, @Nullable Placement placement, @Nullable String detail) {
        return new Verdict.Merged(
                puri, row.handle(), canonical, placement, row.epoch(), row.createdAt(), row.changedAt(), detail);
    }

    private static Verdict deleted(Puri puri, Row row, @Nullable Puri canonical) {
        return new Verdict.Deleted(puri, row.handle(), canonical, row.epoch(), row.createdAt(), row.changedAt());
    }

    private static Placement placement(Row row) {
        return new Placement(row.owner(), row.shard(), row.uuid());
    }
}
