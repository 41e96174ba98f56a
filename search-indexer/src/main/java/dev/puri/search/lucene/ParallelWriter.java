package dev.puri.search.lucene;

import dev.puri.schemas.log.Entry;
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
import org.apache.lucene.document.Document;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.Term;
import org.jspecify.annotations.Nullable;

/**
 * Writes a batch of changes to Lucene with several threads.
 *
 * <pre>
 * batch ──┬── queue 0 ── the caller's thread ──┐
 *         └── queue 1 ── a pool thread ────────┴──▶ IndexWriter
 * </pre>
 *
 * Invariant: all changes of one pURI go to the same queue. One thread writes the pending changes of a queue, in their
 * order, and the next batch begins after all threads have finished. So two threads never write the same entry, and a
 * queue needs no lock.
 */
final class ParallelWriter implements Closeable {
    /** Maximum number of threads. More threads gain little, because merges need processors too. */
    private static final int MAX_THREADS = 4;

    /** Minimum size of a batch that several threads write. For a smaller batch, the hand-over would cost too much. */
    private static final int MIN_PARALLEL_CHANGES = 64;

    private final IndexWriter writer;
    private final List<Queue> queues = new ArrayList<>();
    private final ExecutorService threads;

    /**
     * Creates the queues and their threads.
     *
     * @param isEmptyIndex whether the index has no entries yet
     */
    ParallelWriter(IndexWriter writer, boolean isEmptyIndex) {
        this.writer = writer;
        int threadCount = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, MAX_THREADS);
        for (int i = 0; i < threadCount; i++) {
            queues.add(new Queue(isEmptyIndex ? new KeyBloomFilter() : null));
        }
        threads = Executors.newFixedThreadPool(
                threadCount,
                Thread.ofPlatform().name("index-writer-", 0).daemon().factory());
    }

    /** Writes changes and returns when all changes are written. */
    void write(List<IndexChange> changes) throws IOException {
        if (changes.size() < MIN_PARALLEL_CHANGES) {
            for (IndexChange change : changes) {
                queueOf(change).write(change);
            }
            return;
        }
        for (IndexChange change : changes) {
            queueOf(change).pending.add(change);
        }
        List<Future<?>> poolWrites = new ArrayList<>();
        for (Queue queue : queues.subList(1, queues.size())) {
            poolWrites.add(threads.submit(queue::writePending));
        }
        queues.getFirst().writePending();
        for (Future<?> poolWrite : poolWrites) {
            await(poolWrite);
        }
    }

    private Queue queueOf(IndexChange change) {
        return queues.get(Math.floorMod(change.puri().hashCode(), queues.size()));
    }

    private static void await(Future<?> poolWrite) throws IOException {
        try {
            poolWrite.get();
        } catch (ExecutionException e) {
            throw new IOException("a thread failed to write its part of a batch", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while it wrote a batch");
        }
    }

    @Override
    public void close() {
        threads.shutdown();
    }

    /** The changes of one batch that the same thread writes. */
    private final class Queue {
        /** Keys that this queue has written since the index was empty; null if the index was not empty at first. */
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
                writer.updateDocument(key, fields(key, change, entry));
            } else {
                writer.addDocument(fields(key, change, entry));
            }
        }

        private static Document fields(Term key, IndexChange change, Entry entry) {
            return Fields.of(key, change.partition(), change.puri(), entry, change.searchedAttributes());
        }
    }
}
