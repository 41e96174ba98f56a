package dev.puri.resolver.export;

import dev.puri.http.Download;
import dev.puri.resolver.answer.ExportWriter;
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
 * One export of the rows of a table, while the table is written. It reads the next part of the table when the client
 * has read the previous piece.
 *
 * <p>The cursor is taken before any row is read, so each exported row includes all changes before the cursor. The
 * client then reads the changes from the cursor on, and the last change of a row replaces the exported row.
 */
public final class Export implements Download.Source {
    /**
     * A piece with this number of bytes is complete. A part has about a thousandth of the rows, so pieces of a
     * large table are larger.
     */
    private static final int MIN_PIECE_BYTES = 128 << 10;

    /** Maximum number of parts in a piece, so that an export of few collections does not occupy the thread. */
    private static final int MAX_PIECE_PARTS = 16;

    private final Table table;
    private final ChangeId cursor;
    private final ExportWriter writer;
    private final Set<String> collections;
    private final BooleanSupplier mayContinue;
    private final Consumer<Result> onEnd;
    private final RecordView view;
    private int nextPart;
    private long rowCount;
    private boolean isAtEnd;

    /**
     * How an export ended.
     *
     * @param rowCount number of rows that were written, whether or not the client read them
     */
    public record Result(Download.End end, long rowCount) {}

    /**
     * Begins an export and takes its cursor.
     *
     * @param collections canonical {@code namespace:collection} of the rows to export; empty for all
     * @param mayContinue the export is aborted when it returns false; called by several threads, before each part and
     *     while the client reads nothing
     * @param onEnd called once, on the event loop
     */
    public Export(
            LiveTable<ChangeRing> liveTable,
            ExportFormat format,
            Set<String> collections,
            BooleanSupplier mayContinue,
            Consumer<Result> onEnd) {
        this.table = liveTable.table();
        this.cursor = liveTable.changeReceiver().currentId();
        this.writer = format.newWriter(cursor);
        this.collections = collections;
        this.mayContinue = mayContinue;
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
        int endPart = Math.min(table.partCount(), nextPart + MAX_PIECE_PARTS);
        while (nextPart < endPart && writer.length() < MIN_PIECE_BYTES) {
            if (!mayContinue.getAsBoolean()) {
                throw new CancellationException("the table was replaced, or the export took too long");
            }
            table.scanPart(nextPart++, view, this::put);
        }
        if (nextPart == table.partCount()) {
            writer.putEnd(rowCount);
            isAtEnd = true;
        }
        return writer.take();
    }

    private void put(RecordView row) {
        if (collections.isEmpty() || collections.contains(row.collection())) {
            writer.put(row);
            rowCount++;
        }
    }

    @Override
    public boolean isWanted() {
        return mayContinue.getAsBoolean();
    }

    @Override
    public void ended(Download.End end) {
        onEnd.accept(new Result(end, rowCount));
    }
}
