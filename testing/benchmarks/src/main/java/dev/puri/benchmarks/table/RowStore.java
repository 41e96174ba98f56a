package dev.puri.benchmarks.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** A store that returns decoded rows by pURI and by handle. */
interface RowStore extends AutoCloseable {
    @Nullable
    Row byPuri(Puri puri);

    @Nullable
    Row byHandle(Handle handle);

    /**
     * Reads and decodes rows in any order.
     *
     * @param minRows number of rows after which the scan may stop
     * @return the number of rows that were read
     */
    long scan(long minRows);

    @Override
    void close();

    /** Returns the key of a handle in the baselines. */
    static byte[] key(Handle handle) {
        return handle.text().getBytes(StandardCharsets.US_ASCII);
    }
}
