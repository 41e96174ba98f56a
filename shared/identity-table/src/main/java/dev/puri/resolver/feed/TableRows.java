package dev.puri.resolver.feed;

import dev.puri.projection.wait.ReadYourWrites;
import dev.puri.resolver.table.Identity;
import dev.puri.resolver.table.Table;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Gives {@link ReadYourWrites} access to the rows of the serving table.
 *
 * @param tables returns the serving table, or null if there is none yet
 */
public record TableRows(Supplier<@Nullable Table> tables) implements ReadYourWrites.Rows {
    @Override
    public @Nullable Position lastEventOf(Puri puri) {
        Table table = tables.get();
        Identity identity = table == null ? null : table.byPuri(puri);
        return identity == null ? null : identity.row().position();
    }

    @Override
    public @Nullable Puri puriOf(Handle handle) {
        Table table = tables.get();
        Identity identity = table == null ? null : table.byHandle(handle);
        return identity == null ? null : identity.puri();
    }

    @Override
    public boolean isServing() {
        return tables.get() != null;
    }
}
