package dev.puri.search.lucene;

import dev.puri.search.index.Cursor;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import org.apache.lucene.search.FieldDoc;

/**
 * Where a page ended, as a cursor keeps it: what its last hit was sorted by.
 *
 * @param sortedBy in a list the uuid's halves and {@link Fields#TIE}, with a text the score and the latter
 * @param coarse of a text: see {@link TextQuery}
 */
record Place(Object[] sortedBy, boolean coarse) {
    private static final byte LIST = 1;
    private static final byte FINE = 2;
    private static final byte COARSE = 3;

    private static final int MOST_BYTES = 1 + 3 * Long.BYTES;

    byte[] toBytes() {
        ByteBuffer bytes = ByteBuffer.allocate(MOST_BYTES);
        bytes.put(sortedBy.length == 3 ? LIST : coarse ? COARSE : FINE);
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

    static Place of(byte[] bytes) throws Cursor.InvalidException {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        try {
            byte form = in.get();
            return switch (form) {
                case LIST -> new Place(new Object[] {in.getLong(), in.getLong(), in.getLong()}, false);
                case FINE, COARSE -> new Place(new Object[] {in.getFloat(), in.getLong()}, form == COARSE);
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
