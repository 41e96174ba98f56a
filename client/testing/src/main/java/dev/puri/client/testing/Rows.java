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

/** Turns rows into verdicts. Follows merges as a resolver's look-up does. */
final class Rows {
    private static final int MAX_MERGES = 8;

    private Rows() {}

    /**
     * @param rows returns the row of a pURI, or null
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
        Set<Puri> passed = new LinkedHashSet<>();
        Puri here = puri;
        Puri into = survivor(row);
        while (passed.size() < MAX_MERGES) {
            passed.add(here);
            if (passed.contains(into)) {
                return merged(puri, row, null, null, "its chain of merges leads back to " + into);
            }
            Row next = rows.apply(into);
            if (next == null) {
                return merged(puri, row, into, null, "it was merged into " + into + ", which is not known");
            }
            switch (next.status()) {
                case ACTIVE -> {
                    return merged(puri, row, into, placement(next), null);
                }
                case DELETED -> {
                    return deleted(puri, row, into);
                }
                case MERGED -> {
                    here = into;
                    into = survivor(next);
                }
            }
        }
        return merged(puri, row, null, null, "its chain of merges is longer than " + MAX_MERGES);
    }

    private static Puri survivor(Row merged) {
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
