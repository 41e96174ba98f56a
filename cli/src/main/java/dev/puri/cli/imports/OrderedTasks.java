package dev.puri.cli.imports;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/**
 * Hands the results of concurrent tasks to a consumer, in the order in which the tasks were added. The number of tasks
 * under way is bounded. Not thread-safe: one thread adds the tasks, and consumes their results meanwhile.
 */
final class OrderedTasks<T> {
    /** The maximum number of tasks under way, so high that no worker waits for the thread that adds tasks. */
    private static final int MAX_TASKS = 4;

    private final Consumer<T> consumer;
    private final Queue<Future<T>> tasks = new ArrayDeque<>();

    /** Takes the result of a task. */
    interface Consumer<T> {
        void accept(T result) throws IOException, InterruptedException;
    }

    OrderedTasks(Consumer<T> consumer) {
        this.consumer = consumer;
    }

    /**
     * Adds a task that was started. If there are many, waits for the oldest one and consumes its result.
     *
     * @throws IOException if an I/O failure ended an older task; its RuntimeException or Error is rethrown too
     */
    void add(Future<T> task) throws IOException, InterruptedException {
        if (tasks.size() >= MAX_TASKS) {
            consumer.accept(get(tasks.remove()));
        }
        tasks.add(task);
    }

    /**
     * Waits for all tasks and consumes their results.
     *
     * @throws IOException if an I/O failure ended a task; its RuntimeException or Error is rethrown too
     */
    void finish() throws IOException, InterruptedException {
        while (!tasks.isEmpty()) {
            consumer.accept(get(tasks.remove()));
        }
    }

    /**
     * Waits for a task and returns its result.
     *
     * @throws IOException if an I/O failure ended the task; its RuntimeException or Error is rethrown too
     */
    static <T> T get(Future<T> task) throws IOException, InterruptedException {
        try {
            return task.get();
        } catch (ExecutionException e) {
            switch (Objects.requireNonNull(e.getCause())) {
                case IOException cause -> throw cause;
                case RuntimeException cause -> throw cause;
                case Error cause -> throw cause;
                default -> throw new IllegalStateException(e);
            }
        }
    }
}
