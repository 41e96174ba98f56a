package dev.puri.resolver.answer;

import dev.puri.resolver.table.Identity;
import dev.puri.resolver.table.Table;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The model of {@link LookUp}: maps a reference, pURI or handle, to its result, with objects. */
final class Resolution {
    /** The maximum number of merges to follow; a longer chain gives a result without placement. */
    static final int MAX_MERGES = 8;

    private Resolution() {}

    static Result resolve(Table table, String ref) {
        Puri puri = null;
        Identity identity;
        try {
            if (Handle.looksLike(ref)) {
                identity = table.byHandle(Handle.parse(ref));
            } else {
                puri = Puri.parse(ref);
                identity = table.byPuri(puri);
            }
        } catch (InvalidNameException e) {
            return Result.malformed(ref, String.valueOf(e.getMessage()));
        }
        if (identity == null) {
            return Result.unknown(ref, puri);
        }
        return switch (identity.row().status()) {
            case ACTIVE -> Result.found(ref, identity);
            case DELETED -> Result.deleted(ref, identity, null);
            case MERGED -> merged(table, ref, identity);
        };
    }

    private static Result merged(Table table, String ref, Identity asked) {
        Set<Puri> passed = new LinkedHashSet<>();
        Identity merged = asked;
        Puri into = into(merged);
        while (into != null && passed.size() < MAX_MERGES) {
            passed.add(merged.puri());
            if (passed.contains(into)) {
                return Result.lost(ref, asked, null, "its chain of merges leads back to " + into);
            }
            Identity next = table.byPuri(into);
            if (next == null) {
                return Result.lost(ref, asked, into, "it was merged into " + into + ", which is not known");
            }
            if (next.row().status() == Row.Status.DELETED) {
                return Result.deleted(ref, asked, into);
            }
            if (next.row().status() == Row.Status.ACTIVE) {
                return Result.merged(ref, asked, next);
            }
            merged = next;
            into = into(merged);
        }
        return Result.lost(ref, asked, null, "its chain of merges is longer than " + MAX_MERGES);
    }

    private static @Nullable Puri into(Identity identity) {
        return identity.row().mergedInto();
    }
}
