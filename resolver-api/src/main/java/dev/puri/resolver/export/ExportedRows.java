package dev.puri.resolver.export;

import dev.puri.resolver.table.RecordView;

/** Writes the cursor, then rows, in one form. Used by one thread at a time. */
interface ExportedRows {
    void put(RecordView row);

    /**
     * Writes the end, by which a reader knows that no row is missing.
     *
     * @param rows how many were written
     */
    void putEnd(long rows);

    /** Returns about how many bytes {@link #take} would return. */
    int length();

    /** Returns the bytes written since the last call. */
    byte[] take();
}
