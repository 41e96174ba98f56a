package dev.puri.cli.imports;

import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.jspecify.annotations.Nullable;

/** Reads the rows of an input in batches, on a thread of its own and a few batches ahead. */
final class BatchReader implements AutoCloseable {
    private static final int BATCHES_AHEAD = 4;

    private final RowSource source;
    private final int batchSize;
    private final BlockingQueue<Batch> batches = new ArrayBlockingQueue<>(BATCHES_AHEAD);
    private final Thread thread;
    private volatile boolean isClosing;
    private boolean isAtEnd;

    /**
     * A batch of rows, or the error that ended the reading.
     *
     * @param failure null if the rows were read
     */
    private record Batch(List<SourceRow> rows, @Nullable Throwable failure) {}

    BatchReader(RowSource source, int batchSize) {
        this.source = source;
        this.batchSize = batchSize;
        thread = Thread.ofPlatform().daemon().name("puri-import-reader").start(this::readAll);
    }

    /**
     * Returns the next rows; an empty list at the end.
     *
     * @throws IOException if the file cannot be read or is malformed
     * @throws SQLException if the query fails; a RuntimeException or Error of the input is rethrown too
     */
    List<SourceRow> next() throws IOException, SQLException, InterruptedException {
        if (isAtEnd) {
            return List.of();
        }
        Batch batch = batches.take();
        isAtEnd = batch.rows().size() < batchSize;
        if (batch.failure() == null) {
            return batch.rows();
        }
        switch (batch.failure()) {
            case IOException failure -> throw failure;
            case SQLException failure -> throw failure;
            case RuntimeException failure -> throw failure;
            case Error failure -> throw failure;
            default -> throw new IllegalStateException(batch.failure());
        }
    }

    private void readAll() {
        try {
            int rowCount = batchSize;
            while (rowCount == batchSize && !isClosing) {
                Batch batch = read();
                rowCount = batch.rows().size();
                batches.put(batch);
            }
        } catch (InterruptedException e) {
            // Nothing interrupts this thread: close() sets isClosing.
            throw new IllegalStateException(e);
        }
    }

    private Batch read() {
        try {
            List<SourceRow> rows = new ArrayList<>(batchSize);
            while (rows.size() < batchSize) {
                SourceRow row = source.next();
                if (row == null) {
                    break;
                }
                rows.add(row);
            }
            return new Batch(rows, null);
        } catch (Throwable e) {
            // An Error too, for example of a driver that lacks a class: next() waits for a batch.
            return new Batch(List.of(), e);
        }
    }

    /** Closes the input when the thread does not use it any more. */
    @Override
    public void close() throws IOException, SQLException {
        isClosing = true;
        boolean isInterrupted = false;
        while (thread.isAlive()) {
            // Lets the thread put the batch that it is reading. An interrupt would break a driver's connection.
            batches.clear();
            try {
                thread.join(10);
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
        source.close();
    }
}
