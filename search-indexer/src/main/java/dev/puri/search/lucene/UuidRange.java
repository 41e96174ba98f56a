package dev.puri.search.lucene;

import java.io.IOException;
import org.apache.lucene.document.LongPoint;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.PointValues;
import org.apache.lucene.search.IndexOrDocValuesQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.util.NumericUtils;

/**
 * A stretch of the order of uuids, with at least so many identities in it as were asked for. Lucene finds the first
 * of an order fast when it meets them first; but as identities are created in this order, it meets the newest last,
 * and everything on its way there is newer than all before. In a stretch at the right end there is little to meet.
 *
 * @param low where it begins, as {@link Fields#high} has it
 * @param high where it ends
 * @param all whether nothing is left on the far side
 */
record UuidRange(long low, long high, boolean all) {
    /**
     * From a place on.
     *
     * @param from where it begins to be of interest; {@link Long#MAX_VALUE} for the newest, {@code MIN_VALUE} for the
     *     oldest
     * @param newest whether to go on to smaller ones
     * @param many how many there have to be, roughly
     */
    static UuidRange from(long from, boolean newest, long many, IndexReader reader) throws IOException {
        long near = from;
        long far = newest ? Long.MIN_VALUE : Long.MAX_VALUE;
        if (count(near, far, reader) < many) {
            return between(near, far, true);
        }
        // Between what is too little and what is enough.
        while (near != far) {
            long middle = (near & far) + ((near ^ far) >> 1);
            if (middle == near || middle == far) {
                break;
            }
            if (count(from, middle, reader) < many) {
                near = middle;
            } else {
                far = middle;
            }
        }
        return between(from, far, false);
    }

    private static UuidRange between(long one, long other, boolean all) {
        return new UuidRange(Math.min(one, other), Math.max(one, other), all);
    }

    Query query() {
        return new IndexOrDocValuesQuery(
                LongPoint.newRangeQuery(Fields.UUID_HIGH, low, high),
                NumericDocValuesField.newSlowRangeQuery(Fields.UUID_HIGH, low, high));
    }

    private static long count(long one, long other, IndexReader reader) throws IOException {
        PointValues.IntersectVisitor within = new Within(Math.min(one, other), Math.max(one, other));
        long count = 0;
        for (LeafReaderContext segment : reader.leaves()) {
            PointValues points = segment.reader().getPointValues(Fields.UUID_HIGH);
            if (points != null) {
                count += points.estimatePointCount(within);
            }
        }
        return count;
    }

    /** Only compares, as counts are estimated from the inner nodes of Lucene's tree. */
    private record Within(long low, long high) implements PointValues.IntersectVisitor {
        @Override
        public PointValues.Relation compare(byte[] least, byte[] most) {
            long from = NumericUtils.sortableBytesToLong(least, 0);
            long to = NumericUtils.sortableBytesToLong(most, 0);
            if (to < low || from > high) {
                return PointValues.Relation.CELL_OUTSIDE_QUERY;
            }
            return low <= from && to <= high
                    ? PointValues.Relation.CELL_INSIDE_QUERY
                    : PointValues.Relation.CELL_CROSSES_QUERY;
        }

        @Override
        public void visit(int doc) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void visit(int doc, byte[] value) {
            throw new UnsupportedOperationException();
        }
    }
}
