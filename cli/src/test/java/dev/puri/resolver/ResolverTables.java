package dev.puri.resolver;

import dev.puri.resolver.table.PackedTable;
import java.util.Objects;

/** Gives tests of other packages the table of a resolver, so that they can damage it. */
public final class ResolverTables {
    private ResolverTables() {}

    /** Returns the serving table. */
    public static PackedTable of(Resolver resolver) {
        return Objects.requireNonNull(resolver.keeper().liveTable()).table();
    }
}
