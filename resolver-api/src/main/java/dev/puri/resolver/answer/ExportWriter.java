package dev.puri.resolver.answer;

import dev.puri.resolver.table.RecordView;

/**
 * Writes the body of an export in one format: the cursor, which the constructor gets, the rows and an end. Used by one
 * thread at a time.
 */
public interface ExportWriter {
    /** Writes a row. */
    void put(RecordView row);

    /**
     * Writes the end, which tells a client that no row is missing.
     *
     * @param rowCount number of rows that were written
     */
    void putEnd(long rowCount);

    /** Returns about the number of bytes that {@link #take} would return. */
    int length();

    /** Returns the bytes written since the last call. */
    byte[] take();
}
