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
 * Writes a batch of changes by several threads. Changes of one key go through one lane, in their order.
 *
 * <pre>
 * batch ──┬── keys of lane 0 ── the caller's thread ──┐
 *         └── keys of lane 1 ── another ──────────────┴──▶ IndexWriter
 * </pre>
 */
final class ParallelWriter implements Closeable {
    /** More help less, as merging takes its part of the machine too. */
    private static final int MOST = 4;

    /** A batch that is shorter is not worth a hand-over. */
    private static final int SHORT = 64;

    private final IndexWriter writer;
    private final List<Lane> lanes = new ArrayList<>();
    private final ExecutorService threads;

    /**
     * @param empty whether the writer's index has no entries yet
     */
    ParallelWriter(IndexWriter writer, boolean empty) {
        this.writer = writer;
        int count = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, MOST);
        for (int i = 0; i < count; i++) {
            lanes.add(new Lane(empty ? new KeyBloomFilter() : null));
        }
        threads = Executors.newFixedThreadPool(
                count, Thread.ofPlatform().name("index-lane-", 0).daemon().factory());
    }

    /** Writes what was put into the lanes, and returns when all is written. */
    void write(List<IndexChange> changes) throws IOException {
        if (changes.size() < SHORT) {
            for (IndexChange change : changes) {
                lane(change).write(change);
            }
            return;
        }
        for (IndexChange change : changes) {
            lane(change).waiting.add(change);
        }
        List<Future<?>> others = new ArrayList<>();
        for (Lane lane : lanes.subList(1, lanes.size())) {
            others.add(threads.submit(lane::writeWaiting));
        }
        lanes.getFirst().writeWaiting();
        for (Future<?> other : others) {
            await(other);
        }
    }

    private Lane lane(IndexChange change) {
        return lanes.get(Math.floorMod(change.puri().hashCode(), lanes.size()));
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

    private final class Lane {
        private final @Nullable KeyBloomFilter seen;
        private final List<IndexChange> waiting = new ArrayList<>();

        private Lane(@Nullable KeyBloomFilter seen) {
            this.seen = seen;
        }

        private @Nullable Void writeWaiting() throws IOException {
            for (IndexChange change : waiting) {
                write(change);
            }
            waiting.clear();
            return null;
        }

        private void write(IndexChange change) throws IOException {
            Term key = Fields.key(change.kind(), change.puri());
            Entry entry = change.entry();
            boolean mayBeThere = seen == null || seen.add(key.bytes());
            if (entry == null) {
                if (mayBeThere) {
                    writer.deleteDocuments(key);
                }
            } else if (mayBeThere) {
                writer.updateDocument(key, Fields.of(key, change.puri(), entry, change.declared()));
            } else {
                writer.addDocument(Fields.of(key, change.puri(), entry, change.declared()));
            }
        }
    }
}
