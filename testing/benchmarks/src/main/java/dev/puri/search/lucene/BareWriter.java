package dev.puri.search.lucene;

import dev.puri.benchmarks.report.Timing;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import dev.puri.search.index.EntryKind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.IndexWriterConfig.OpenMode;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;

/**
 * A loop over Lucene's writer. It writes the fields of {@link LuceneIndex} from entries in memory. It reads no topic,
 * decodes nothing, looks up nothing and stores no offsets.
 */
public final class BareWriter {
    /** The buffer size of {@link LuceneIndex}. */
    private static final double BUFFER_MIB = 128;

    private BareWriter() {}

    /** The two entries of an identity. */
    public record Item(Puri puri, Entry identity, Entry document) {}

    /**
     * Fills an index, and waits until readers see all entries.
     *
     * @param folder is created if it does not exist; the caller deletes it
     * @param threads number of threads; each writes a part of the items
     * @return the time in seconds
     */
    public static double fill(Path folder, List<Item> items, int threads) throws Exception {
        try (Directory directory = FSDirectory.open(folder);
                ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            long startNanos = System.nanoTime();
            IndexWriter writer = new IndexWriter(
                    directory,
                    new IndexWriterConfig(Fields.analyzer())
                            .setOpenMode(OpenMode.CREATE)
                            .setRAMBufferSizeMB(BUFFER_MIB)
                            .setMaxFullFlushMergeWaitMillis(0)
                            .setCommitOnClose(false));
            try {
                write(writer, items, threads, pool);
                try (DirectoryReader reader = DirectoryReader.open(writer)) {
                    double seconds = Timing.seconds(startNanos);
                    if (reader.numDocs() != 2 * items.size()) {
                        throw new IllegalStateException("the bare index has " + reader.numDocs() + " entries");
                    }
                    return seconds;
                }
            } finally {
                writer.rollback();
            }
        }
    }

    private static void write(IndexWriter writer, List<Item> items, int threads, ExecutorService pool)
            throws Exception {
        List<Callable<Boolean>> parts = new ArrayList<>();
        for (int first = 0; first < threads; first++) {
            int from = first;
            parts.add(() -> {
                for (int i = from; i < items.size(); i += threads) {
                    add(writer, items.get(i));
                }
                return true;
            });
        }
        for (Future<Boolean> part : pool.invokeAll(parts)) {
            part.get();
        }
    }

    private static void add(IndexWriter writer, Item item) throws IOException {
        for (Entry entry : List.of(item.identity, item.document)) {
            writer.addDocument(Fields.of(
                    Fields.key(EntryKind.of(entry), item.puri), 0, item.puri, entry, SearchedAttributes.DEFAULT));
        }
    }
}
