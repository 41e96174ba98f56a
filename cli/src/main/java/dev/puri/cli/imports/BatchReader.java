package dev.puri.cli.imports;

import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/** Reads the rows of an input in batches, on another thread and one batch ahead. */
final class BatchReader implements AutoCloseable {
    private final RowSource source;
    private final int batchSize;
    private final ExecutorService workers;
    private Future<List<Map<String, String>>> reading;

    BatchReader(RowSource source, int batchSize, ExecutorService workers) {
        this.source = source;
        this.batchSize = batchSize;
        this.workers = workers;
        reading = workers.submit(this::read);
    }

    /**
     * Returns the next rows; an empty list at the end.
     *
     * @throws IOException if the file cannot be read or is malformed
     * @throws SQLException if the query fails
     */
    List<Map<String, String>> next() throws IOException, SQLException, InterruptedException {
        List<Map<String, String>> rows;
        try {
            rows = reading.get();
        } catch (ExecutionException e) {
            switch (Objects.requireNonNull(e.getCause())) {
                case IOException cause -> throw cause;
                case SQLException cause -> throw cause;
                case RuntimeException cause -> throw cause;
                default -> throw new IllegalStateException(e);
            }
        }
        if (rows.size() == batchSize) {
            reading = workers.submit(this::read);
        } else if (!rows.isEmpty()) {
            reading = CompletableFuture.completedFuture(List.of());
        }
        return rows;
    }

    private List<Map<String, String>> read() throws IOException, SQLException {
        List<Map<String, String>> rows = new ArrayList<>(batchSize);
        while (rows.size() < batchSize) {
            Map<String, String> row = source.next();
            if (row == null) {
                break;
            }
            rows.add(row);
        }
        return rows;
    }

    /** Closes the input when the other thread does not use it any more. */
    @Override
    public void close() throws IOException, SQLException {
        try {
            reading.get();
        } catch (ExecutionException e) {
            // next() has thrown it, or an earlier failure ends the import.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        source.close();
    }
}
