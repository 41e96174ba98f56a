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
 * A range of uuids with at least a wanted number of identities. A list query is restricted to such a range. Lucene's
 * sort skips hits that cannot be on the page, but documents are in the order of creation: for newest first, each hit
 * sorts before all earlier ones and nothing can be skipped. A range near the start of the page has few hits.
 *
 * @param low the lowest {@link Fields#high} in the range
 * @param high the highest one
 * @param isLast whether no identity follows after the range
 */
record UuidRange(long low, long high, boolean isLast) {
    /**
     * Finds a range by bisection over estimated counts.
     *
     * @param from start of the range; {@link Long#MAX_VALUE} for the newest, {@code MIN_VALUE} for the oldest
     * @param newest whether the range extends to lower values
     * @param wanted approximate number of identities in the range
     */
    static UuidRange find(long from, boolean newest, long wanted, IndexReader reader) throws IOException {
        long near = from;
        long far = newest ? Long.MIN_VALUE : Long.MAX_VALUE;
        if (estimateCount(near, far, reader) < wanted) {
            return between(near, far, true);
        }
        // Invariant: the range up to near has too few identities, the range up to far has enough.
        while (near != far) {
            long middle = (near & far) + ((near ^ far) >> 1);
            if (middle == near || middle == far) {
                break;
            }
            if (estimateCount(from, middle, reader) < wanted) {
                near = middle;
            } else {
                far = middle;
            }
        }
        return between(from, far, false);
    }

    private static UuidRange between(long one, long other, boolean isLast) {
        return new UuidRange(Math.min(one, other), Math.max(one, other), isLast);
    }

    Query query() {
        return new IndexOrDocValuesQuery(
                LongPoint.newRangeQuery(Fields.UUID_HIGH, low, high),
                NumericDocValuesField.newSlowRangeQuery(Fields.UUID_HIGH, low, high));
    }

    private static long estimateCount(long one, long other, IndexReader reader) throws IOException {
        PointValues.IntersectVisitor range = new RangeVisitor(Math.min(one, other), Math.max(one, other));
        long count = 0;
        for (LeafReaderContext segment : reader.leaves()) {
            PointValues points = segment.reader().getPointValues(Fields.UUID_HIGH);
            if (points != null) {
                count += points.estimatePointCount(range);
            }
        }
        return count;
    }

    /** Compares cells only. An estimate reads the inner nodes of Lucene's tree and visits no document. */
    private record RangeVisitor(long low, long high) implements PointValues.IntersectVisitor {
        @Override
        public PointValues.Relation compare(byte[] minPackedValue, byte[] maxPackedValue) {
            long min = NumericUtils.sortableBytesToLong(minPackedValue, 0);
            long max = NumericUtils.sortableBytesToLong(maxPackedValue, 0);
            if (max < low || min > high) {
                return PointValues.Relation.CELL_OUTSIDE_QUERY;
            }
            return low <= min && max <= high
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
