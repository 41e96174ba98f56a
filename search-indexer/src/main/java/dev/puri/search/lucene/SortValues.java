package dev.puri.search.lucene;

import dev.puri.search.index.Cursor;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import org.apache.lucene.search.FieldDoc;

/**
 * Where a page ended, as a cursor keeps it: what its last hit was sorted by.
 *
 * @param sortedBy in a list the uuid's halves and {@link Fields#TIE}, with a text the score and the latter
 */
record SortValues(Object[] sortedBy) {
    // 2 and 3 were of scores that are made no more.
    private static final byte LIST = 1;
    private static final byte TEXT = 4;

    private static final int MOST_BYTES = 1 + 3 * Long.BYTES;

    byte[] toBytes() {
        ByteBuffer bytes = ByteBuffer.allocate(MOST_BYTES);
        bytes.put(sortedBy.length == 3 ? LIST : TEXT);
        for (Object each : sortedBy) {
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

    static SortValues of(byte[] bytes) throws Cursor.InvalidException {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        try {
            byte form = in.get();
            return switch (form) {
                case LIST -> new SortValues(new Object[] {in.getLong(), in.getLong(), in.getLong()});
                case TEXT -> new SortValues(new Object[] {in.getFloat(), in.getLong()});
                default -> throw new Cursor.InvalidException("this cursor is another version's");
            };
        } catch (BufferUnderflowException e) {
            throw new Cursor.InvalidException("this cursor is another version's");
        }
    }

    /** Such that whatever sorts like it was on a page before. */
    FieldDoc asDoc() {
        return new FieldDoc(Integer.MAX_VALUE, Float.NaN, sortedBy);
    }
}
