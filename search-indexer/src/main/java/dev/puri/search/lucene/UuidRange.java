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
 * A range of uuids that begins at the start of a page and has approximately the requested number of identities. A list
 * query searches only such a range, because with newest first Lucene's sort cannot skip hits: it visits documents from
 * old to new, so each hit sorts before all earlier hits.
 *
 * @param min the lowest {@link Fields#high} in the range
 * @param max the highest {@link Fields#high} in the range
 * @param isLast whether the range extends to the end of the list
 */
record UuidRange(long min, long max, boolean isLast) {
    /**
     * Finds a range by bisection over estimated numbers of identities.
     *
     * @param start {@link Fields#high} of the start of the page; {@link Long#MAX_VALUE} or {@link Long#MIN_VALUE} for
     *     the first page
     * @param newestFirst whether the range extends to lower values
     * @param minCount minimum estimated number of identities in the range, unless fewer remain
     */
    static UuidRange find(long start, boolean newestFirst, long minCount, IndexReader reader) throws IOException {
        long tooNear = start;
        long farEnough = newestFirst ? Long.MIN_VALUE : Long.MAX_VALUE;
        if (estimateCount(start, farEnough, reader) < minCount) {
            return between(start, farEnough, true);
        }
        // Invariant: the range to tooNear has too few identities, the range to farEnough has enough.
        while (tooNear != farEnough) {
            // The mean, without overflow.
            long middle = (tooNear & farEnough) + ((tooNear ^ farEnough) >> 1);
            if (middle == tooNear || middle == farEnough) {
                break;
            }
            if (estimateCount(start, middle, reader) < minCount) {
                tooNear = middle;
            } else {
                farEnough = middle;
            }
        }
        return between(start, farEnough, false);
    }

    private static UuidRange between(long start, long end, boolean isLast) {
        return new UuidRange(Math.min(start, end), Math.max(start, end), isLast);
    }

    Query query() {
        return new IndexOrDocValuesQuery(
                LongPoint.newRangeQuery(Fields.UUID_HIGH, min, max),
                NumericDocValuesField.newSlowRangeQuery(Fields.UUID_HIGH, min, max));
    }

    private static long estimateCount(long start, long end, IndexReader reader) throws IOException {
        PointValues.IntersectVisitor range = new RangeVisitor(Math.min(start, end), Math.max(start, end));
        long count = 0;
        for (LeafReaderContext segment : reader.leaves()) {
            PointValues points = segment.reader().getPointValues(Fields.UUID_HIGH);
            if (points != null) {
                count += points.estimatePointCount(range);
            }
        }
        return count;
    }

    /** Compares the range with the cells of Lucene's point tree. An estimate visits no document. */
    private record RangeVisitor(long min, long max) implements PointValues.IntersectVisitor {
        @Override
        public PointValues.Relation compare(byte[] minPackedValue, byte[] maxPackedValue) {
            long cellMin = NumericUtils.sortableBytesToLong(minPackedValue, 0);
            long cellMax = NumericUtils.sortableBytesToLong(maxPackedValue, 0);
            if (cellMax < min || cellMin > max) {
                return PointValues.Relation.CELL_OUTSIDE_QUERY;
            }
            return min <= cellMin && cellMax <= max
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
