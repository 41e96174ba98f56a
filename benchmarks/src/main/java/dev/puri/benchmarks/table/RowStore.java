package dev.puri.benchmarks.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** A store that returns decoded rows by name and by handle. */
interface RowStore extends AutoCloseable {
    @Nullable
    Row byPuri(Puri puri);

    @Nullable
    Row byHandle(Handle handle);

    /**
     * Reads rows and decodes them, in no order.
     *
     * @param most rows after which it may stop
     * @return how many it read
     */
    long scan(long most);

    @Override
    void close();

    /** Returns the key under which baselines have a handle. */
    static byte[] key(Handle handle) {
        return handle.text().getBytes(StandardCharsets.US_ASCII);
    }
}
