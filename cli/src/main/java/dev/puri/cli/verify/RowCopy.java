package dev.puri.cli.verify;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.function.BiConsumer;

/** A copy of all rows of {@code puri.identities.v1}, outside the topic. */
public interface RowCopy {
    /** Returns the part of the verification, for example {@code resolver}. */
    String part();

    /** Returns the URL or the folder of the copy. */
    String name();

    /** Whether the copy follows the topic, so that another reading has later rows. */
    boolean isLive();

    /**
     * Starts to read the copy.
     *
     * @throws VerifyException if the copy cannot be read
     */
    Reading open();

    /** A reading of the copy, while it may be written. */
    interface Reading extends AutoCloseable {
        /**
         * Returns the offset before which the rows have all records of a partition. A row may also have later ones.
         */
        long nextOffset(int partition);

        /**
         * Passes all rows. Called once.
         *
         * @throws VerifyException if the copy ends early
         */
        void forEach(BiConsumer<Puri, Row> consumer);

        @Override
        void close();
    }
}
