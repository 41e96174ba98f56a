package dev.puri.search.lucene;

import dev.puri.search.index.Entry;
import dev.puri.search.index.IndexChange;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.Term;
import org.jspecify.annotations.Nullable;

/**
 * Writes a batch of changes with several threads. All changes of one key go to the same queue, in their order.
 *
 * <pre>
 * batch ──┬── keys of queue 0 ── the caller's thread ──┐
 *         └── keys of queue 1 ── a pool thread ────────┴──▶ IndexWriter
 * </pre>
 */
final class ParallelWriter implements Closeable {
    /** More threads gain little, because merges need processors too. */
    private static final int MAX_THREADS = 4;

    /** The caller's thread writes a smaller batch alone; a hand-over would cost more than it gains. */
    private static final int MIN_PARALLEL_BATCH = 64;

    private final IndexWriter writer;
    private final List<Queue> queues = new ArrayList<>();
    private final ExecutorService threads;

    /**
     * Creates the queues and their threads.
     *
     * @param isEmpty whether the index has no entries yet
     */
    ParallelWriter(IndexWriter writer, boolean isEmpty) {
        this.writer = writer;
        int count = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, MAX_THREADS);
        for (int i = 0; i < count; i++) {
            queues.add(new Queue(isEmpty ? new KeyBloomFilter() : null));
        }
        threads = Executors.newFixedThreadPool(
                count, Thread.ofPlatform().name("index-writer-", 0).daemon().factory());
    }

    /** Writes changes and returns when all are written. */
    void write(List<IndexChange> changes) throws IOException {
        if (changes.size() < MIN_PARALLEL_BATCH) {
            for (IndexChange change : changes) {
                queueOf(change).write(change);
            }
            return;
        }
        for (IndexChange change : changes) {
            queueOf(change).pending.add(change);
        }
        List<Future<?>> others = new ArrayList<>();
        for (Queue queue : queues.subList(1, queues.size())) {
            others.add(threads.submit(queue::writePending));
        }
        queues.getFirst().writePending();
        for (Future<?> other : others) {
            await(other);
        }
    }

    private Queue queueOf(IndexChange change) {
        return queues.get(Math.floorMod(change.puri().hashCode(), queues.size()));
    }

    private static void await(Future<?> other) throws IOException {
        try {
            other.get();
        } catch (ExecutionException e) {
            throw new IOException("a part of the batch was not written", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a batch was written");
        }
    }

    @Override
    public void close() {
        threads.shutdown();
    }

    /** Changes of the keys with one hash. One thread at a time writes them. */
    private final class Queue {
        private final @Nullable KeyBloomFilter writtenKeys;
        private final List<IndexChange> pending = new ArrayList<>();

        private Queue(@Nullable KeyBloomFilter writtenKeys) {
            this.writtenKeys = writtenKeys;
        }

        private @Nullable Void writePending() throws IOException {
            for (IndexChange change : pending) {
                write(change);
            }
            pending.clear();
            return null;
        }

        private void write(IndexChange change) throws IOException {
            Term key = Fields.key(change.kind(), change.puri());
            Entry entry = change.entry();
            boolean mayExist = writtenKeys == null || writtenKeys.add(key.bytes());
            if (entry == null) {
                if (mayExist) {
                    writer.deleteDocuments(key);
                }
            } else if (mayExist) {
                writer.updateDocument(key, Fields.of(key, change.puri(), entry, change.declared()));
            } else {
                writer.addDocument(Fields.of(key, change.puri(), entry, change.declared()));
            }
        }
    }
}
