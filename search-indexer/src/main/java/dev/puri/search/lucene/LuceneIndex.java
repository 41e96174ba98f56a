package dev.puri.search.lucene;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import dev.puri.search.index.Cursor;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.EntryDigests;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexSize;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.index.SearchResult;
import dev.puri.search.index.StoredHash;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.lucene.index.ConcurrentMergeScheduler;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.IndexWriterConfig.OpenMode;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.TieredMergePolicy;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.Directory;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.ThreadInterruptedException;
import org.jspecify.annotations.Nullable;

/**
 * One Lucene index in one folder. Lucene's commits are atomic and contain the {@link IndexCheckpoint}. After a crash
 * the index has all changes before its checkpoint. After a {@link #purge} it may also have some later changes; the
 * writer applies these again, which does not change the index.
 *
 * <p>One thread writes; a second thread may purge; any number of threads read. After the first failure of a write, the
 * index closes itself, because the state of Lucene's writer is then unknown.
 */
public final class LuceneIndex implements SearchIndex {
    /** Version of fields, text analysis and stored entries. The server rebuilds an index of another version. */
    static final String FORMAT = "3";

    private static final String FORMAT_KEY = "form";
    private static final String CHECKPOINT_KEY = "reached";

    /** A large buffer makes few large segments. This determines the speed of the first fill. */
    private static final double BUFFER_MIB = 128;

    private final Path folder;
    private final CursorSeal seal;
    private final Consumer<IndexCheckpoint> onCommit;
    private final Directory directory;
    private final ConcurrentMergeScheduler mergeScheduler = new ConcurrentMergeScheduler();
    private final IndexWriter writer;
    private final ParallelWriter parallelWriter;
    private final SearcherManager searcherManager;

    /**
     * Held during a commit. Lucene flushes the entries first and reads the commit data afterwards. Without this lock,
     * the commit of a purge could contain the writer's next checkpoint without the entries of that checkpoint.
     */
    private final Object commitLock = new Object();

    /** Offset after the last applied change, by kind and partition. Only the writer's thread uses it. */
    private final Map<EntryKind, Map<Integer, Long>> nextOffsets = new EnumMap<>(EntryKind.class);

    private volatile IndexCheckpoint lastCheckpoint;

    private LuceneIndex(Path folder, OpenMode mode, CursorSeal seal, Consumer<IndexCheckpoint> onCommit)
            throws IOException {
        this.folder = folder;
        this.seal = seal;
        this.onCommit = onCommit;
        directory = new PrivateFilesDirectory(folder);
        try {
            writer = new IndexWriter(directory, writerConfig(mode));
        } catch (Throwable e) {
            IOUtils.closeWhileHandlingException(directory);
            throw e;
        }
        try {
            if (mode == OpenMode.CREATE) {
                lastCheckpoint = IndexCheckpoint.NONE;
                writeCommit(lastCheckpoint);
            } else {
                lastCheckpoint = readCheckpoint(writer);
            }
            lastCheckpoint.offsets().forEach((kind, offsets) -> nextOffsets.put(kind, new HashMap<>(offsets)));
            parallelWriter = new ParallelWriter(writer, writer.getDocStats().maxDoc == 0);
            searcherManager = new SearcherManager(writer, null);
        } catch (Throwable e) {
            IOUtils.closeWhileHandlingException(writer::rollback, directory);
            throw e;
        }
    }

    /** Creates an empty index. */
    static LuceneIndex create(Path folder, CursorSeal seal, Consumer<IndexCheckpoint> onCommit) throws IOException {
        return new LuceneIndex(folder, OpenMode.CREATE, seal, onCommit);
    }

    /**
     * Opens an index at its last commit and verifies the checksums of all files. Otherwise Lucene would notice damage
     * only during a later merge.
     *
     * @throws CorruptIndexException if a file is damaged
     * @throws IllegalArgumentException if the index does not have {@link #FORMAT}, or has entries without a checkpoint
     */
    static LuceneIndex open(Path folder, CursorSeal seal, Consumer<IndexCheckpoint> onCommit) throws IOException {
        LuceneIndex index = new LuceneIndex(folder, OpenMode.APPEND, seal, onCommit);
        try {
            index.checkIntegrity();
            if (index.lastCheckpoint.topicIds().isEmpty() && index.writer.getDocStats().numDocs > 0) {
                // A purge can commit entries before the first checkpoint.
                throw new IllegalArgumentException("the index has entries, but no checkpoint");
            }
            return index;
        } catch (Throwable e) {
            index.close();
            throw e;
        }
    }

    private IndexWriterConfig writerConfig(OpenMode mode) {
        return new IndexWriterConfig(Fields.analyzer())
                .setOpenMode(mode)
                .setRAMBufferSizeMB(BUFFER_MIB)
                .setMergeScheduler(mergeScheduler)
                // A purge must leave no segment with deleted entries.
                .setMergePolicy(new TieredMergePolicy().setForceMergeDeletesPctAllowed(0))
                // A refresh must not wait for merges.
                .setMaxFullFlushMergeWaitMillis(0)
                .setCommitOnClose(false);
    }

    private static IndexCheckpoint readCheckpoint(IndexWriter writer) {
        Map<String, String> data = new HashMap<>();
        Iterable<Map.Entry<String, String>> commitData = writer.getLiveCommitData();
        if (commitData != null) {
            commitData.forEach(each -> data.put(each.getKey(), each.getValue()));
        }
        if (!FORMAT.equals(data.get(FORMAT_KEY))) {
            throw new IllegalArgumentException("the index has the format " + data.get(FORMAT_KEY) + ", not " + FORMAT);
        }
        return IndexCheckpoint.parse(data.getOrDefault(CHECKPOINT_KEY, ""));
    }

    private void checkIntegrity() throws IOException {
        IndexSearcher searcher = searcherManager.acquire();
        try {
            for (LeafReaderContext segment : searcher.getIndexReader().leaves()) {
                segment.reader().checkIntegrity();
            }
        } finally {
            searcherManager.release(searcher);
        }
    }

    Path folder() {
        return folder;
    }

    boolean isOpen() {
        return writer.isOpen();
    }

    @Override
    public IndexCheckpoint committedCheckpoint() {
        return lastCheckpoint;
    }

    @Override
    public void apply(List<IndexChange> changes) throws IndexUnavailableException {
        List<IndexChange> newChanges = new ArrayList<>(changes.size());
        for (IndexChange change : changes) {
            Map<Integer, Long> offsets = nextOffsets.computeIfAbsent(change.kind(), kind -> new HashMap<>());
            if (change.offset() >= offsets.getOrDefault(change.partition(), 0L)) {
                offsets.put(change.partition(), change.offset() + 1);
                newChanges.add(change);
            }
        }
        runOrClose("write to", () -> parallelWriter.write(newChanges));
    }

    @Override
    public void refresh() throws IndexUnavailableException {
        runOrClose("refresh", searcherManager::maybeRefreshBlocking);
    }

    @Override
    public void commit(IndexCheckpoint checkpoint) throws IndexUnavailableException {
        runOrClose("commit", () -> writeCommit(checkpoint));
        onCommit.accept(checkpoint);
    }

    private void writeCommit(IndexCheckpoint checkpoint) throws IOException {
        synchronized (commitLock) {
            writer.setLiveCommitData(Map.of(FORMAT_KEY, FORMAT, CHECKPOINT_KEY, checkpoint.toString())
                    .entrySet());
            writer.commit();
        }
        lastCheckpoint = checkpoint;
    }

    /**
     * Commits all applied changes, but with the checkpoint of the last commit. After a crash the writer applies the
     * changes after this checkpoint again, which does not change the index.
     */
    void commitWithLastCheckpoint() throws IndexUnavailableException {
        runOrClose("commit", this::writeCommitAgain);
    }

    private void writeCommitAgain() throws IOException {
        synchronized (commitLock) {
            writer.commit();
        }
    }

    @Override
    public void purge() throws IndexUnavailableException {
        runOrClose("purge", () -> {
            // A merge that began before the deletions reached their segments would copy the deleted entries.
            searcherManager.maybeRefreshBlocking();
            mergeScheduler.sync();
            writer.forceMergeDeletes();
            mergeScheduler.sync();
            // The previous commit and open readers keep the old files. A new commit and new readers release the files.
            writeCommitAgain();
            searcherManager.maybeRefreshBlocking();
            writer.deleteUnusedFiles();
        });
    }

    @Override
    public SearchResult search(SearchQuery query) throws IndexUnavailableException, Cursor.InvalidException {
        return read(reader -> PageQuery.run(reader, query, seal));
    }

    @Override
    public @Nullable Entry entry(EntryKind kind, Puri puri) throws IndexUnavailableException {
        StoredEntry storedEntry = find(Fields.key(kind, puri));
        return storedEntry == null ? null : storedEntry.entry();
    }

    @Override
    public @Nullable Puri findByHandle(Handle handle) throws IndexUnavailableException {
        StoredEntry storedEntry = find(Fields.handle(handle));
        return storedEntry == null ? null : storedEntry.puri();
    }

    private @Nullable StoredEntry find(Term term) throws IndexUnavailableException {
        return this.<@Nullable StoredEntry, RuntimeException>read(
                reader -> reader.entries().find(term));
    }

    @Override
    public void forEach(EntryKind kind, BiConsumer<Puri, Entry> consumer) throws IndexUnavailableException {
        this.<Boolean, RuntimeException>read(reader -> {
            reader.forEach(kind, storedEntry -> consumer.accept(storedEntry.puri(), storedEntry.entry()));
            return true;
        });
    }

    @Override
    public EntryDigests digests() throws IndexUnavailableException {
        return this.<EntryDigests, RuntimeException>read(PointInTimeReader::digests);
    }

    @Override
    public void forEachHash(EntryKind kind, int partition, Predicate<StoredHash> visitor)
            throws IndexUnavailableException {
        this.<Boolean, RuntimeException>read(reader -> {
            reader.forEachHash(kind, partition, visitor);
            return true;
        });
    }

    @Override
    public IndexSize size() throws IndexUnavailableException {
        return this.<IndexSize, RuntimeException>read(reader -> new IndexSize(
                reader.count(EntryKind.IDENTITY),
                reader.count(EntryKind.DOCUMENT),
                reader.searcher().getIndexReader().numDeletedDocs(),
                bytes()));
    }

    private long bytes() throws IOException {
        long bytes = 0;
        for (String file : directory.listAll()) {
            try {
                bytes += directory.fileLength(file);
            } catch (NoSuchFileException e) {
                // A merge has removed the file meanwhile.
            }
        }
        return bytes;
    }

    @Override
    public void close() {
        IOUtils.closeWhileHandlingException(searcherManager, parallelWriter, writer::rollback, directory);
    }

    /** Runs an operation of Lucene's writer; closes the index if the operation fails. */
    private void runOrClose(String action, Operation operation) throws IndexUnavailableException {
        try {
            if (!isOpen()) {
                throw new AlreadyClosedException("the index is closed", writer.getTragicException());
            }
            operation.run();
        } catch (IOException | AlreadyClosedException | ThreadInterruptedException e) {
            close();
            throw IndexUnavailableException.causedBy("cannot " + action + " the index in " + folder, e);
        }
    }

    private <T extends @Nullable Object, E extends Exception> T read(ReadOperation<T, E> operation)
            throws IndexUnavailableException, E {
        try {
            IndexSearcher searcher = searcherManager.acquire();
            try {
                return operation.run(new PointInTimeReader(searcher));
            } finally {
                searcherManager.release(searcher);
            }
        } catch (CorruptIndexException e) {
            // The writer's next operation fails. The indexer then opens the index again; the store sets it aside.
            close();
            throw new IndexUnavailableException("the index in " + folder + " is damaged", e);
        } catch (IOException | AlreadyClosedException e) {
            throw IndexUnavailableException.causedBy("cannot read the index in " + folder, e);
        }
    }

    private interface Operation {
        void run() throws IOException;
    }

    private interface ReadOperation<T extends @Nullable Object, E extends Exception> {
        T run(PointInTimeReader reader) throws IOException, E;
    }
}
