package dev.puri.search.lucene;

import dev.puri.search.index.Cursor;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import org.apache.lucene.search.FieldDoc;

/**
 * The sort values of the last hit of a page. A cursor contains them, and the next page starts after them.
 *
 * @param values in a list the two halves of the uuid and {@link Fields#TIE}; in a text search the score and the tie
 */
record SortValues(Object[] values) {
    // Versions 2 and 3 belonged to older scores.
    private static final byte LIST = 1;
    private static final byte TEXT = 4;

    private static final int MAX_BYTES = 1 + 3 * Long.BYTES;

    byte[] toBytes() {
        ByteBuffer bytes = ByteBuffer.allocate(MAX_BYTES);
        bytes.put(values.length == 3 ? LIST : TEXT);
        for (Object each : values) {
            if (each instanceof Float score) {
                bytes.putFloat(score);
            } else {
                bytes.putLong((Long) each);
            }
        }
        byte[] filled = new byte[bytes.position()];
        bytes.get(0, filled);
        return filled;
    }

    /**
     * Parses the bytes of {@link #toBytes}.
     *
     * @throws Cursor.InvalidException if another version wrote them
     */
    static SortValues parse(byte[] bytes) throws Cursor.InvalidException {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        try {
            byte version = in.get();
            return switch (version) {
                case LIST -> new SortValues(new Object[] {in.getLong(), in.getLong(), in.getLong()});
                case TEXT -> new SortValues(new Object[] {in.getFloat(), in.getLong()});
                default -> throw new Cursor.InvalidException("this cursor is of another version");
            };
        } catch (BufferUnderflowException e) {
            throw new Cursor.InvalidException("this cursor is of another version");
        }
    }

    /**
     * Returns the values for Lucene's search-after. The largest document number excludes all hits with equal values.
     */
    FieldDoc toFieldDoc() {
        return new FieldDoc(Integer.MAX_VALUE, Float.NaN, values);
    }
}
