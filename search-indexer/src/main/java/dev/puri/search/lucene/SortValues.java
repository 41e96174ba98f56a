package dev.puri.search.lucene;

import dev.puri.search.index.Cursor;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import org.apache.lucene.search.FieldDoc;

/**
 * The sort values of the last hit of a page. A cursor contains these values; the next page starts after this hit.
 *
 * @param values without search words: the two halves of the uuid and {@link Fields#TIE}; with search words: the score
 *     and {@link Fields#TIE}
 */
record SortValues(Object[] values) {
    // The first byte is the kind of search and its format. 2 and 3 were formats of a text search whose scores differ.
    private static final byte LIST_VERSION = 1;
    private static final byte TEXT_VERSION = 4;

    private static final int MAX_BYTES = 1 + 3 * Long.BYTES;

    byte[] toBytes() {
        ByteBuffer bytes = ByteBuffer.allocate(MAX_BYTES);
        bytes.put(values.length == 3 ? LIST_VERSION : TEXT_VERSION);
        for (Object value : values) {
            if (value instanceof Float score) {
                bytes.putFloat(score);
            } else {
                bytes.putLong((Long) value);
            }
        }
        byte[] written = new byte[bytes.position()];
        bytes.get(0, written);
        return written;
    }

    /**
     * Parses the bytes of {@link #toBytes}.
     *
     * @throws Cursor.InvalidException if the first byte is unknown or bytes are missing
     */
    static SortValues parse(byte[] bytes) throws Cursor.InvalidException {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        try {
            byte version = in.get();
            return switch (version) {
                case LIST_VERSION -> new SortValues(new Object[] {in.getLong(), in.getLong(), in.getLong()});
                case TEXT_VERSION -> new SortValues(new Object[] {in.getFloat(), in.getLong()});
                default ->
                    throw new Cursor.InvalidException("this cursor was created by another version of the server");
            };
        } catch (BufferUnderflowException e) {
            throw new Cursor.InvalidException("this cursor was created by another version of the server");
        }
    }

    /**
     * Returns the values as the hit after which Lucene continues a search. Lucene orders hits with equal values by
     * their document numbers; the largest number excludes all hits with equal values.
     */
    FieldDoc toFieldDoc() {
        return new FieldDoc(Integer.MAX_VALUE, Float.NaN, values);
    }
}
