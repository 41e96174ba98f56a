package dev.puri.resolver.answer;

import dev.puri.resolver.table.Identity;
import dev.puri.resolver.table.Verdict;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import org.jspecify.annotations.Nullable;

/**
 * The model's result for one reference.
 *
 * @param ref the requested reference, unchanged
 * @param puri its canonical name; null if it is malformed, or a handle that no identity has
 * @param row the requested identity; null if there is none
 * @param placement the row with the object's current location: the identity's own, or its survivor's;
 *     null if there is none
 * @param canonical the survivor of a merged identity; null if it was not merged, or no survivor was found
 * @param detail why it is malformed, or where a chain of merges breaks; null otherwise
 */
record Result(
        String ref,
        Verdict verdict,
        @Nullable Puri puri,
        @Nullable Row row,
        @Nullable Row placement,
        @Nullable Puri canonical,
        @Nullable String detail) {
    static Result malformed(String ref, String detail) {
        return new Result(ref, Verdict.MALFORMED, null, null, null, null, detail);
    }

    static Result unknown(String ref, @Nullable Puri puri) {
        return new Result(ref, Verdict.UNKNOWN, puri, null, null, null, null);
    }

    static Result found(String ref, Identity identity) {
        return new Result(ref, Verdict.FOUND, identity.puri(), identity.row(), identity.row(), null, null);
    }

    /** Deleted, or merged into a deleted identity, which is then named. */
    static Result deleted(String ref, Identity identity, @Nullable Puri canonical) {
        return new Result(ref, Verdict.DELETED, identity.puri(), identity.row(), null, canonical, null);
    }

    static Result merged(String ref, Identity identity, Identity survivor) {
        return new Result(ref, Verdict.MERGED, identity.puri(), identity.row(), survivor.row(), survivor.puri(), null);
    }

    /** Merged into an unknown name, or in an endless chain. */
    static Result lost(String ref, Identity identity, @Nullable Puri canonical, String detail) {
        return new Result(ref, Verdict.MERGED, identity.puri(), identity.row(), null, canonical, detail);
    }
}
