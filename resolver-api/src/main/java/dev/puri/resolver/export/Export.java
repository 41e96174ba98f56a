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
 * One export of a table's rows. It reads part by part when the client takes more, while the table is written.
 *
 * <p>The cursor is taken before any row is read, so each row is as of the cursor or newer. Changes since then follow
 * from the cursor, in their order, and the last change of a row replaces the exported row.
 */
public final class Export implements Download.Source {
    /**
     * A piece of this size takes no further part. A part has about a thousandth of the rows, so pieces of a large table
     * are larger.
     */
    private static final int ENOUGH = 128 << 10;

    /** The most parts of a piece, so that an export of few rows of a large table does not keep the thread. */
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
     * @param rows number of rows that were written, whether or not the client read them
     */
    public record Ended(Download.End why, long rows) {}

    /**
     * Begins an export and takes its cursor.
     *
     * @param collections canonical {@code namespace:collection} of the rows wanted; empty for all
     * @param goesOn whether to continue; called by several threads before each part and while the client reads nothing.
     *     The export is aborted when it returns false
     * @param onEnd called once, on the event loop
     */
    public Export(
            LiveTable<ChangeRing> source,
            ExportFormat format,
            Set<String> collections,
            BooleanSupplier goesOn,
            Consumer<Ended> onEnd) {
        this.table = source.table();
        this.cursor = source.changes().currentId();
        this.rows = format.begin(cursor);
        this.collections = collections;
        this.goesOn = goesOn;
        this.onEnd = onEnd;
        this.view = table.newView();
    }

    /** Returns the cursor from which {@code /v1/changes} continues. */
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
