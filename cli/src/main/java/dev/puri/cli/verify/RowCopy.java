package dev.puri.cli.verify;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.io.IOException;
import java.util.function.BiConsumer;

/** A copy of all rows of {@code puri.identities.v1}, outside the topic. */
public interface RowCopy {
    /** Returns the name of the part of the verification that compares this copy, for example {@code resolver}. */
    String part();

    /** Returns the URL or the folder of the copy. */
    String name();

    /** Whether the copy follows the topic, so that another reading has later rows. */
    boolean isLive();

    /**
     * Starts to read the copy.
     *
     * @throws IOException if the copy cannot be read now; another attempt may succeed
     * @throws VerifyException if the copy cannot be read
     */
    Scan open() throws IOException;

    /** One pass over the rows. The copy may change meanwhile. */
    interface Scan extends AutoCloseable {
        /**
         * Returns the offset up to which the copy has read a partition. The rows show all records before this offset,
         * and may show some later ones.
         */
        long nextOffset(int partition);

        /**
         * Passes all rows. Called once.
         *
         * @throws IOException if the copy ends early; another reading may succeed
         */
        void forEach(BiConsumer<Puri, Row> consumer) throws IOException;

        @Override
        void close();
    }
}
