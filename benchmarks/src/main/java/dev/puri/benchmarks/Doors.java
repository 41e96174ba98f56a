package dev.puri.benchmarks;

import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Whatever gives decoded rows by name and by handle. */
interface Doors extends AutoCloseable {
    @Nullable
    Row byPuri(Puri puri);

    @Nullable
    Row byHandle(Handle handle);

    /**
     * Reads rows and decodes them, in no order.
     *
     * @param most that it may stop after
     * @return how many
     */
    long scan(long most);

    @Override
    void close();

    /** What baselines know a handle by. */
    static byte[] key(Handle handle) {
        return handle.text().getBytes(StandardCharsets.US_ASCII);
    }

    /** Our table's; it is not closed. */
    record Ours(PackedTable table) implements Doors {
        @Override
        public @Nullable Row byPuri(Puri puri) {
            var identity = table.byPuri(puri);
            return identity == null ? null : identity.row();
        }

        @Override
        public @Nullable Row byHandle(Handle handle) {
            var identity = table.byHandle(handle);
            return identity == null ? null : identity.row();
        }

        /** All of them, always. */
        @Override
        public long scan(long most) {
            long[] seen = {0};
            table.scan(identity -> seen[0] += identity.row().epoch() > 0 ? 1 : 0);
            return seen[0];
        }

        @Override
        public void close() {}
    }
}
