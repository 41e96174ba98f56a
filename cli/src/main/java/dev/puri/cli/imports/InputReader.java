package dev.puri.cli.imports;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Reads the rows of an input in batches, on a thread of its own and a few batches ahead. */
final class InputReader implements AutoCloseable {
    private static final int BATCHES_AHEAD = 4;
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    private final RowSource source;
    private final int batchSize;
    private final Duration closeTimeout;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("puri-import-reader").factory());
    private final Queue<Future<List<SourceRow>>> batches = new ArrayDeque<>();

    /** Whether the input has ended or failed, or is being closed. Then no row is read any more. */
    private volatile boolean isDone;

    InputReader(RowSource source, int batchSize) {
        this(source, batchSize, CLOSE_TIMEOUT);
    }

    /**
     * @param closeTimeout maximum time that {@link #close} waits for the input
     */
    InputReader(RowSource source, int batchSize, Duration closeTimeout) {
        this.source = source;
        this.batchSize = batchSize;
        this.closeTimeout = closeTimeout;
        for (int i = 0; i < BATCHES_AHEAD; i++) {
            batches.add(thread.submit(this::read));
        }
    }

    /**
     * Returns the next rows; an empty list at the end.
     *
     * @throws IOException if the file cannot be read or is malformed
     * @throws SQLException if the query fails; a RuntimeException or Error of the input is rethrown too
     */
    List<SourceRow> next() throws IOException, SQLException, InterruptedException {
        batches.add(thread.submit(this::read));
        try {
            return batches.remove().get();
        } catch (ExecutionException e) {
            throw failure(e);
        }
    }

    /** Throws the failure of the input. */
    private static IllegalStateException failure(ExecutionException e) throws IOException, SQLException {
        switch (Objects.requireNonNull(e.getCause())) {
            case IOException failure -> throw failure;
            case SQLException failure -> throw failure;
            case RuntimeException failure -> throw failure;
            case Error failure -> throw failure;
            default -> throw new IllegalStateException(e);
        }
    }

    private List<SourceRow> read() throws IOException, SQLException {
        List<SourceRow> rows = new ArrayList<>(isDone ? 0 : batchSize);
        try {
            while (!isDone && rows.size() < batchSize) {
                SourceRow row = source.next();
                if (row == null) {
                    isDone = true;
                } else {
                    rows.add(row);
                }
            }
            return rows;
        } catch (Throwable e) {
            isDone = true;
            throw e;
        }
    }

    /**
     * Closes the input when the thread does not use it any more. An interrupt would break a driver's connection. If a
     * read does not end in time, the thread closes the input later, and does not keep the process alive.
     */
    @Override
    public void close() throws IOException, SQLException {
        isDone = true;
        Future<Boolean> closing = thread.submit(() -> {
            source.close();
            return true;
        });
        thread.shutdown();
        try {
            closing.get(closeTimeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw failure(e);
        } catch (TimeoutException e) {
            // The thread is still reading.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
