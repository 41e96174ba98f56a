package dev.puri.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.cli.imports.ImportRow.End;
import dev.puri.cli.imports.RegistryComparison.Result;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class RegistryComparisonTest {
    private static final Handle HANDLE = new Handle("trk_111111111111111");
    private static final Puri TRACK = Puri.parse("music:tracks:1");
    private static final Puri SURVIVOR = Puri.parse("music:tracks:2");
    private static final Instant TIME = Instant.parse("2026-11-24T10:00:00Z");

    @Test
    void comparesTheHandlesOfDeletedRows() throws Exception {
        ImportRow deleted = row(new End(TIME, null));
        assertThat(compare(deleted, deletedWith(HANDLE))).isEqualTo(new Result.Equal());
        assertThat(compare(deleted, deletedWith(null)))
                .isEqualTo(new Result.Different("handle: the row has " + HANDLE + ", the registry has null"));
    }

    @Test
    void comparesTheHandlesOfMergedRows() throws Exception {
        ImportRow merged = row(new End(TIME, SURVIVOR));
        assertThat(compare(merged, mergedWith(HANDLE))).isEqualTo(new Result.Equal());
        assertThat(compare(merged, mergedWith(null)))
                .isEqualTo(new Result.Different("handle: the row has " + HANDLE + ", the registry has null"));
    }

    /** The resolver follows the chain of the survivor, which is shorter by one merge, but not that of the row. */
    @Test
    void theChainThatTheResolverDoesNotFollowIsNoDifference() throws Exception {
        ImportRow merged = row(new End(TIME, SURVIVOR));
        Verdict tooLong =
                new Verdict.Merged(TRACK, HANDLE, null, null, 2, TIME, TIME, "its chain of merges is longer than 8");
        Puri last = Puri.parse("music:tracks:10");
        for (Verdict ofSurvivor : List.of(
                new Verdict.Merged(SURVIVOR, null, last, null, 2, TIME, TIME, null),
                new Verdict.Merged(SURVIVOR, null, null, null, 2, TIME, TIME, "its chain of merges is longer than 8"),
                new Verdict.Deleted(SURVIVOR, null, last, 2, TIME, TIME))) {
            assertThat(compare(merged, tooLong, ofSurvivor)).isEqualTo(new Result.Equal());
        }
        assertThat(compare(merged, tooLong, new Verdict.Deleted(SURVIVOR, null, null, 2, TIME, TIME)))
                .isEqualTo(new Result.Different("it was merged, and its survivor is not known"));
        assertThat(compare(merged, tooLong)).isInstanceOf(Result.Different.class);
    }

    @Test
    void aPuriThatTheResolverRefusesIsMalformedAndNotTaken() throws Exception {
        assertThat(compare(row(null), new Verdict.Malformed(Ref.of(TRACK), "too long")))
                .isEqualTo(new Result.Malformed("the resolver refuses it: too long"));
    }

    @Test
    void doesNotLookUpRowsOfCollectionsWithoutRows() throws Exception {
        FakeResolver none = new FakeResolver(ref -> {
            throw new IllegalStateException("nobody must look up " + ref);
        });
        RegistryComparison comparison = new RegistryComparison(none, Set.of("music:users"));
        assertThat(comparison.compare(List.of(row(null)), Runnable::run).get()).containsExactly(new Result.Absent());
    }

    /** Compares a row when the resolver has this verdict on its pURI, and does not know the survivor. */
    private static Result compare(ImportRow row, Verdict verdict) throws Exception {
        return compare(row, verdict, new Verdict.Unknown(Ref.of(SURVIVOR)));
    }

    private static Result compare(ImportRow row, Verdict verdict, Verdict ofSurvivor) throws Exception {
        FakeResolver resolver = new FakeResolver(ref -> SURVIVOR.equals(ref.puri()) ? ofSurvivor : verdict);
        return new RegistryComparison(resolver, null)
                .compare(List.of(row), Runnable::run)
                .get()
                .getFirst();
    }

    private static ImportRow row(@Nullable End end) {
        return new ImportRow(
                0,
                1,
                TRACK,
                new UUID(0x8000, 1L << 63),
                new Owner("catalog"),
                new Shard("br-1"),
                HANDLE,
                Map.of(),
                false,
                end,
                null);
    }

    private static Verdict deletedWith(@Nullable Handle handle) {
        return new Verdict.Deleted(TRACK, handle, null, 2, TIME, TIME);
    }

    private static Verdict mergedWith(@Nullable Handle handle) {
        return new Verdict.Merged(TRACK, handle, SURVIVOR, null, 2, TIME, TIME, null);
    }
}
