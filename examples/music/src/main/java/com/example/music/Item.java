package com.example.music;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.puri.client.resolve.Gathered;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One item of a list of references.
 *
 * @param ref the reference in the request
 * @param puri pURI of the object; null if the object was not found
 * @param missing why there is no title; null if there is a title
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Item(
        String ref,
        @Nullable Puri puri,
        @Nullable Handle handle,
        @Nullable Shard shard,
        @Nullable String title,
        @Nullable String missing) {
    static Item of(Ref ref, Gathered<String> gathered) {
        if (gathered instanceof Gathered.Row<String> row && row.verdict() instanceof Verdict.Found found) {
            return new Item(
                    ref.text(), found.puri(), found.handle(), found.placement().shard(), row.row(), null);
        }
        return new Item(ref.text(), null, null, null, null, missing(gathered));
    }

    private static String missing(Gathered<String> gathered) {
        if (gathered instanceof Gathered.Failed<String>) {
            return "its shard does not answer";
        }
        if (gathered instanceof Gathered.NoRow<String>) {
            return "its shard has no row";
        }
        return gathered.verdict().getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }
}
