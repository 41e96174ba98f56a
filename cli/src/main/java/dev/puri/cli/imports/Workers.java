package dev.puri.cli.imports;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The threads that a stage computes with, beside the thread that keeps the rows in order. */
record Workers(ExecutorService executor) implements AutoCloseable {
    /** A thread for each processor. */
    Workers() {
        this(Executors.newFixedThreadPool(
                Runtime.getRuntime().availableProcessors(),
                Thread.ofPlatform().daemon().name("puri-import-", 0).factory()));
    }

    /** Ends the threads; the results of their tasks are lost. */
    @Override
    public void close() {
        executor.shutdownNow();
    }
}
