package dev.puri.search.lucene;

import dev.puri.search.index.Cursor;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.util.BytesRef;

/**
 * Where a page ended, as a cursor keeps it: what the last hit was sorted by.
 *
 * @param sortedBy in a list the uuid's halves and the pURI, with a text score and pURI
 * @param coarse of a text: see {@link TextQuery}
 */
record Place(Object[] sortedBy, boolean coarse) {
    private static final byte LIST = 1;
    private static final byte FINE = 2;
    private static final byte COARSE = 3;

    byte[] toBytes() {
        BytesRef puri = (BytesRef) sortedBy[sortedBy.length - 1];
        ByteBuffer bytes = ByteBuffer.allocate(1 + 2 * Long.BYTES + puri.length);
        if (sortedBy[0] instanceof Float score) {
            bytes.put(coarse ? COARSE : FINE).putFloat(score);
        } else {
            bytes.put(LIST).putLong((Long) sortedBy[0]).putLong((Long) sortedBy[1]);
        }
        bytes.put(puri.bytes, puri.offset, puri.length);
        byte[] filled = new byte[bytes.position()];
        bytes.get(0, filled);
        return filled;
    }

    static Place of(byte[] bytes) throws Cursor.InvalidException {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        try {
            byte form = in.get();
            return switch (form) {
                case LIST -> new Place(new Object[] {in.getLong(), in.getLong(), rest(in)}, false);
                case FINE, COARSE -> new Place(new Object[] {in.getFloat(), rest(in)}, form == COARSE);
                default -> throw new Cursor.InvalidException("this cursor is another version's");
            };
        } catch (BufferUnderflowException e) {
            throw new Cursor.InvalidException("this cursor is another version's");
        }
    }

    private static BytesRef rest(ByteBuffer in) {
        return new BytesRef(in.array(), in.position(), in.remaining());
    }

    /** Such that whatever sorts like it was on a page before. */
    FieldDoc asDoc() {
        return new FieldDoc(Integer.MAX_VALUE, Float.NaN, sortedBy);
    }
}
