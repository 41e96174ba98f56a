package dev.puri.resolver.export;

import dev.puri.resolver.table.RecordView;

/** Rows being written in one form, the cursor before them. Used by one thread at a time. */
interface ExportedRows {
    void put(RecordView row);

    /**
     * Writes what tells that nothing is missing.
     *
     * @param rows how many were written
     */
    void putEnd(long rows);

    /** About how many bytes {@link #take} would take. */
    int length();

    /** Takes what has been written since it was last asked; the last bytes once the end was written. */
    byte[] take();
}
