package dev.puri.search.lucene;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.Cursor;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.Entry;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexSize;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.SearchIndex;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.index.SearchResult;
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
 * One folder with one index. Lucene's commits are atomic and carry {@link IndexCheckpoint}, so what is found after any end
 * is what the log said up to there, and after a {@link #purge} some of what it said next; what came later is read
 * from the log again, which changes nothing where it is in already.
 */
public final class LuceneIndex implements SearchIndex {
    /** Of fields, of their words, and of stored entries. An index of another is built anew. */
    static final String FORM = "2";

    private static final String FORM_KEY = "form";
    private static final String REACHED_KEY = "reached";

    /** Fewer and larger segments are written at once, which is most of a first indexing's speed. */
    private static final double BUFFER_MIB = 128;

    private final Path folder;
    private final CursorSeal seal;
    private final Consumer<IndexCheckpoint> onCommit;
    private final Directory directory;
    private final ConcurrentMergeScheduler merges = new ConcurrentMergeScheduler();
    private final IndexWriter writer;
    private final ParallelWriter lanes;
    private final SearcherManager searchers;

    /**
     * Held while a commit is made. Lucene flushes first and looks afterwards how far the index goes: a purge's commit
     * could else say what the writer was just about to commit, without the entries.
     */
    private final Object committing = new Object();

    /** By kind and partition the offset before which all was taken; used by the writing thread. */
    private final Map<EntryKind, Map<Integer, Long>> taken = new EnumMap<>(EntryKind.class);

    private volatile IndexCheckpoint committed;

    private LuceneIndex(Path folder, OpenMode mode, CursorSeal seal, Consumer<IndexCheckpoint> onCommit) throws IOException {
        this.folder = folder;
        this.seal = seal;
        this.onCommit = onCommit;
        directory = new OwnerOnlyDirectory(folder);
        try {
            writer = new IndexWriter(directory, configuration(mode));
        } catch (Throwable e) {
            IOUtils.closeWhileHandlingException(directory);
            throw e;
        }
        try {
            if (mode == OpenMode.CREATE) {
                committed = IndexCheckpoint.NONE;
                keep(committed);
            } else {
                committed = committedBy(writer);
            }
            committed.offsets().forEach((kind, offsets) -> taken.put(kind, new HashMap<>(offsets)));
            lanes = new ParallelWriter(writer, writer.getDocStats().maxDoc == 0);
            searchers = new SearcherManager(writer, null);
        } catch (Throwable e) {
            IOUtils.closeWhileHandlingException(writer::rollback, directory);
            throw e;
        }
    }

    /** Makes an empty one. */
    static LuceneIndex create(Path folder, CursorSeal seal, Consumer<IndexCheckpoint> onCommit) throws IOException {
        return new LuceneIndex(folder, OpenMode.CREATE, seal, onCommit);
    }

    /**
     * Opens one as it was last committed, and reads all of it once, as damage shows nowhere else in time.
     *
     * @throws CorruptIndexException when it is damaged
     * @throws IllegalArgumentException when it is of another form
     */
    static LuceneIndex open(Path folder, CursorSeal seal, Consumer<IndexCheckpoint> onCommit) throws IOException {
        LuceneIndex index = new LuceneIndex(folder, OpenMode.APPEND, seal, onCommit);
        try {
            index.checkIntegrity();
            return index;
        } catch (Throwable e) {
            index.close();
            throw e;
        }
    }

    private IndexWriterConfig configuration(OpenMode mode) {
        return new IndexWriterConfig(Fields.analyzer())
                .setOpenMode(mode)
                .setRAMBufferSizeMB(BUFFER_MIB)
                .setMergeScheduler(merges)
                // A purge leaves no segment with anything that is gone.
                .setMergePolicy(new TieredMergePolicy().setForceMergeDeletesPctAllowed(0))
                // What is shown at once waits for no merge.
                .setMaxFullFlushMergeWaitMillis(0)
                .setCommitOnClose(false);
    }

    private static IndexCheckpoint committedBy(IndexWriter writer) {
        Map<String, String> data = new HashMap<>();
        Iterable<Map.Entry<String, String>> live = writer.getLiveCommitData();
        if (live != null) {
            live.forEach(each -> data.put(each.getKey(), each.getValue()));
        }
        if (!FORM.equals(data.get(FORM_KEY))) {
            throw new IllegalArgumentException("its form is " + data.get(FORM_KEY) + ", not " + FORM);
        }
        return IndexCheckpoint.parse(data.getOrDefault(REACHED_KEY, ""));
    }

    private void checkIntegrity() throws IOException {
        IndexSearcher searcher = searchers.acquire();
        try {
            for (LeafReaderContext segment : searcher.getIndexReader().leaves()) {
                segment.reader().checkIntegrity();
            }
        } finally {
            searchers.release(searcher);
        }
    }

    Path folder() {
        return folder;
    }

    boolean isOpen() {
        return writer.isOpen();
    }

    @Override
    public IndexCheckpoint committed() {
        return committed;
    }

    @Override
    public void apply(List<IndexChange> changes) throws IndexUnavailableException {
        List<IndexChange> fresh = new ArrayList<>(changes.size());
        for (IndexChange change : changes) {
            Map<Integer, Long> ofKind = taken.computeIfAbsent(change.kind(), kind -> new HashMap<>());
            if (change.offset() >= ofKind.getOrDefault(change.partition(), 0L)) {
                ofKind.put(change.partition(), change.offset() + 1);
                fresh.add(change);
            }
        }
        attempt("write to", () -> lanes.write(fresh));
    }

    @Override
    public void refresh() throws IndexUnavailableException {
        attempt("refresh", searchers::maybeRefreshBlocking);
    }

    @Override
    public void commit(IndexCheckpoint reached) throws IndexUnavailableException {
        attempt("commit", () -> keep(reached));
        onCommit.accept(reached);
    }

    private void keep(IndexCheckpoint reached) throws IOException {
        synchronized (committing) {
            writer.setLiveCommitData(
                    Map.of(FORM_KEY, FORM, REACHED_KEY, reached.toString()).entrySet());
            writer.commit();
        }
        committed = reached;
    }

    /** Also what was taken since, with how far it went before: reading that again changes nothing. */
    void commitAgain() throws IndexUnavailableException {
        attempt("commit", this::keepAgain);
    }

    private void keepAgain() throws IOException {
        synchronized (committing) {
            writer.commit();
        }
    }

    @Override
    public void purge() throws IndexUnavailableException {
        attempt("purge", () -> {
            // A merge that began before deletions were known to their segments would carry them on.
            searchers.maybeRefreshBlocking();
            merges.sync();
            writer.forceMergeDeletes();
            merges.sync();
            // Of what was merged, files are kept for the commit before and for readers.
            keepAgain();
            searchers.maybeRefreshBlocking();
            writer.deleteUnusedFiles();
        });
    }

    @Override
    public SearchResult search(SearchQuery query) throws IndexUnavailableException, Cursor.InvalidException {
        return read(view -> PageQuery.of(view, query, seal));
    }

    @Override
    public @Nullable Entry entry(EntryKind kind, Puri puri) throws IndexUnavailableException {
        StoredEntry found = having(Fields.key(kind, puri));
        return found == null ? null : found.entry();
    }

    @Override
    public @Nullable Puri bearer(Handle handle) throws IndexUnavailableException {
        StoredEntry found = having(Fields.handle(handle));
        return found == null ? null : found.puri();
    }

    private @Nullable StoredEntry having(Term term) throws IndexUnavailableException {
        return this.<@Nullable StoredEntry, RuntimeException>read(
                view -> view.entries().having(term));
    }

    @Override
    public void forEach(EntryKind kind, BiConsumer<Puri, Entry> reader) throws IndexUnavailableException {
        this.<Boolean, RuntimeException>read(view -> {
            view.forEach(kind, stored -> reader.accept(stored.puri(), stored.entry()));
            return true;
        });
    }

    @Override
    public IndexSize size() throws IndexUnavailableException {
        return this.<IndexSize, RuntimeException>read(view -> new IndexSize(
                view.count(EntryKind.IDENTITY),
                view.count(EntryKind.DOCUMENT),
                view.searcher().getIndexReader().numDeletedDocs(),
                bytes()));
    }

    private long bytes() throws IOException {
        long bytes = 0;
        for (String file : directory.listAll()) {
            try {
                bytes += directory.fileLength(file);
            } catch (NoSuchFileException e) {
                // Merged away meanwhile.
            }
        }
        return bytes;
    }

    @Override
    public void close() {
        IOUtils.closeWhileHandlingException(searchers, lanes, writer::rollback, directory);
    }

    /** After a failure nobody can tell what was taken, so the index ends with it and is opened anew. */
    private void attempt(String what, Attempt attempt) throws IndexUnavailableException {
        try {
            if (!isOpen()) {
                throw new AlreadyClosedException("it was closed", writer.getTragicException());
            }
            attempt.make();
        } catch (IOException | AlreadyClosedException | ThreadInterruptedException e) {
            close();
            throw IndexUnavailableException.because("cannot " + what + " the index in " + folder, e);
        }
    }

    private <T extends @Nullable Object, E extends Exception> T read(Reading<T, E> reading)
            throws IndexUnavailableException, E {
        try {
            IndexSearcher searcher = searchers.acquire();
            try {
                return reading.of(new PointInTimeReader(searcher));
            } finally {
                searchers.release(searcher);
            }
        } catch (CorruptIndexException e) {
            // The writer learns of it and opens the index anew, which sets it aside.
            close();
            throw new IndexUnavailableException("damaged: " + folder, e);
        } catch (IOException | AlreadyClosedException e) {
            throw IndexUnavailableException.because("cannot read the index in " + folder, e);
        }
    }

    private interface Attempt {
        void make() throws IOException;
    }

    private interface Reading<T extends @Nullable Object, E extends Exception> {
        T of(PointInTimeReader view) throws IOException, E;
    }
}
