package dev.puri.search.lucene;

import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import dev.puri.search.index.IndexChange;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;

/** Alters stored entries of a closed index, as faults of memory do before Lucene computes the checksum of a file. */
public final class AlteredIndex {
    private AlteredIndex() {}

    /**
     * Replaces a stored entry, but not its hash.
     *
     * @param folder the folder of the index
     * @param written the change that wrote the entry
     * @param stored the entry that the index returns from now on
     */
    public static void storeEntry(Path folder, IndexChange written, Entry stored) throws IOException {
        storeBytes(folder, written, new StoredEntry(written.puri(), stored, null).toBytes());
    }

    /** Replaces the bytes of a stored entry, but not its hash. */
    static void storeBytes(Path folder, IndexChange written, BytesRef bytes) throws IOException {
        Puri puri = written.puri();
        Term key = Fields.key(written.kind(), puri);
        Document document = Fields.of(key, written.partition(), puri, written.entry(), SearchedAttributes.DEFAULT);
        document.removeField(Fields.ENTRY);
        document.add(new StoredField(Fields.ENTRY, bytes));
        try (FSDirectory files = FSDirectory.open(folder);
                IndexWriter writer = new IndexWriter(files, new IndexWriterConfig(Fields.analyzer()))) {
            writer.updateDocument(key, document);
            writer.setLiveCommitData(writer.getLiveCommitData());
        }
    }
}
