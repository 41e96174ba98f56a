package dev.puri.resolver.export;

import dev.puri.http.Download;
import dev.puri.resolver.feed.TableKeeper.LiveTable;
import dev.puri.resolver.live.ChangeId;
import dev.puri.resolver.live.ChangeRing;
import dev.puri.resolver.table.RecordView;
import dev.puri.resolver.table.Table;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One export: every row of a table, read part by part as it is asked for, while the table is written.
 *
 * <p>The cursor is taken before any row is read. So a row is as it was at the cursor, or newer; and of each that
 * changed since, all changes follow from the cursor, in their order, the last of which decides whatever the export had.
 */
public final class Export implements Download.Source {
    /**
     * A piece of so many bytes takes no further part. A part of a large table may be more, by a thousandth of its rows.
     */
    private static final int ENOUGH = 128 << 10;

    /** Parts of a piece at the most, so that an export of few rows of a large table lets others have the thread. */
    private static final int MOST_PARTS = 16;

    private final Table table;
    private final ChangeId cursor;
    private final ExportedRows rows;
    private final Set<String> collections;
    private final BooleanSupplier goesOn;
    private final Consumer<Ended> onEnd;
    private final RecordView view;
    private int part;
    private long count;
    private boolean isAtEnd;

    /**
     * How an export ended.
     *
     * @param rows that were written, taken or not
     */
    public record Ended(Download.End why, long rows) {}

    /**
     * Takes the cursor.
     *
     * @param collections canonical {@code namespace:collection} of the rows wanted; empty for all
     * @param goesOn asked before each part and while the reader takes nothing; the export is cut off when it says no.
     *     Called by several threads
     * @param onEnd called once, on the event loop
     */
    public Export(
            LiveTable<ChangeRing> source,
            ExportFormat format,
            Set<String> collections,
            BooleanSupplier goesOn,
            Consumer<Ended> onEnd) {
        this.table = source.table();
        this.cursor = source.changes().now();
        this.rows = format.begin(cursor);
        this.collections = collections;
        this.goesOn = goesOn;
        this.onEnd = onEnd;
        this.view = table.newView();
    }

    /** Where {@code /v1/changes} goes on. */
    public ChangeId cursor() {
        return cursor;
    }

    @Override
    public byte @Nullable [] next() {
        if (isAtEnd) {
            return null;
        }
        int end = Math.min(table.parts(), part + MOST_PARTS);
        while (part < end && rows.length() < ENOUGH) {
            if (!goesOn.getAsBoolean()) {
                throw new CancellationException("the export is not to go on");
            }
            table.show(part++, view, this::put);
        }
        if (part == table.parts()) {
            rows.putEnd(count);
            isAtEnd = true;
        }
        return rows.take();
    }

    private void put(RecordView row) {
        if (collections.isEmpty() || collections.contains(row.collection())) {
            rows.put(row);
            count++;
        }
    }

    @Override
    public boolean isWanted() {
        return goesOn.getAsBoolean();
    }

    @Override
    public void ended(Download.End why) {
        onEnd.accept(new Ended(why, count));
    }
}
