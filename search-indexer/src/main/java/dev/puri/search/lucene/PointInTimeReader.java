package dev.puri.search.lucene;

import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import dev.puri.search.index.EntryDigests;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.StoredHash;
import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.lucene.codecs.StoredFieldsReader;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.DocValues;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.util.Bits;
import org.jspecify.annotations.Nullable;

/** Reads entries from one point-in-time view of the index. */
record PointInTimeReader(IndexSearcher searcher) {
    /** With more documents for each entry of a partition, single entries are read faster than whole blocks. */
    private static final int MAX_DOCUMENTS_PER_ENTRY = 40;

    private static final Set<String> ENTRY_FIELD = Set.of(Fields.ENTRY);

    /** Returns a reader of single entries. Only the calling thread may use it. */
    Entries entries() throws IOException {
        return new Entries(searcher.getIndexReader());
    }

    static final class Entries {
        private final IndexReader reader;
        private final StoredFields stored;

        private Entries(IndexReader reader) throws IOException {
            this.reader = reader;
            this.stored = reader.storedFields();
        }

        /** Returns the entry with a Lucene document number. */
        StoredEntry at(int doc) throws IOException {
            return StoredEntry.parse(stored.document(doc, ENTRY_FIELD).getBinaryValue(Fields.ENTRY));
        }

        /** Returns the first entry with a term; null if there is none. */
        @Nullable
        StoredEntry find(Term term) throws IOException {
            for (LeafReaderContext segment : reader.leaves()) {
                Terms terms = segment.reader().terms(term.field());
                TermsEnum iterator = terms == null ? null : terms.iterator();
                if (iterator != null && iterator.seekExact(term.bytes())) {
                    Bits liveDocs = segment.reader().getLiveDocs();
                    PostingsEnum docs = iterator.postings(null, PostingsEnum.NONE);
                    for (int doc = docs.nextDoc(); doc != DocIdSetIterator.NO_MORE_DOCS; doc = docs.nextDoc()) {
                        if (liveDocs == null || liveDocs.get(doc)) {
                            return at(segment.docBase + doc);
                        }
                    }
                }
            }
            return null;
        }
    }

    /** Returns the number of entries of a kind. */
    long count(EntryKind kind) throws IOException {
        long count = 0;
        for (Row.Status status : Row.Status.values()) {
            count += searcher.count(new TermQuery(new Term(Fields.STATE, Fields.state(kind, status))));
        }
        return count;
    }

    /** Passes every entry of a kind to a consumer, in Lucene's order of documents. */
    void forEach(EntryKind kind, Consumer<StoredEntry> consumer) throws IOException {
        for (LeafReaderContext segment : searcher.getIndexReader().leaves()) {
            StoredFields stored = segment.reader().storedFields();
            Bits liveDocs = segment.reader().getLiveDocs();
            for (int doc = 0; doc < segment.reader().maxDoc(); doc++) {
                if (liveDocs == null || liveDocs.get(doc)) {
                    StoredEntry entry =
                            StoredEntry.parse(stored.document(doc, ENTRY_FIELD).getBinaryValue(Fields.ENTRY));
                    if (EntryKind.of(entry.entry()) == kind) {
                        consumer.accept(entry);
                    }
                }
            }
        }
    }

    /**
     * Returns the digests of all partitions, the sums of the stored hashes. Reads about 100 million entries a second.
     */
    EntryDigests digests() throws IOException {
        // Indexed by the value of the partition field.
        long[] rows = new long[64];
        long[] sums = new long[64];
        for (LeafReaderContext segment : searcher.getIndexReader().leaves()) {
            NumericDocValues partitions = DocValues.getNumeric(segment.reader(), Fields.PARTITION);
            NumericDocValues hashes = DocValues.getNumeric(segment.reader(), Fields.HASH);
            Bits liveDocs = segment.reader().getLiveDocs();
            for (int doc = hashes.nextDoc(); doc != DocIdSetIterator.NO_MORE_DOCS; doc = hashes.nextDoc()) {
                if ((liveDocs == null || liveDocs.get(doc)) && partitions.advanceExact(doc)) {
                    int partition = Math.toIntExact(partitions.longValue());
                    if (partition >= rows.length) {
                        rows = Arrays.copyOf(rows, Math.max(2 * rows.length, partition + 1));
                        sums = Arrays.copyOf(sums, rows.length);
                    }
                    rows[partition]++;
                    sums[partition] += hashes.longValue();
                }
            }
        }
        EntryDigests.Sum digests = new EntryDigests.Sum();
        for (int partition = 0; partition < rows.length; partition++) {
            if (rows[partition] > 0) {
                digests.add(
                        Fields.kindOf(partition),
                        Fields.numberOf(partition),
                        new PartitionDigest(rows[partition], sums[partition]));
            }
        }
        return digests.toDigests();
    }

    /** Passes the hashes of every entry of a partition to a visitor, until the visitor returns false. */
    void forEachHash(EntryKind kind, int partition, Predicate<StoredHash> visitor) throws IOException {
        long value = Fields.partition(kind, partition);
        for (LeafReaderContext segment : searcher.getIndexReader().leaves()) {
            LeafReader reader = segment.reader();
            StoredFields stored = storedFields(reader, value);
            NumericDocValues partitions = DocValues.getNumeric(reader, Fields.PARTITION);
            NumericDocValues hashes = DocValues.getNumeric(reader, Fields.HASH);
            Bits liveDocs = reader.getLiveDocs();
            for (int doc = partitions.nextDoc(); doc != DocIdSetIterator.NO_MORE_DOCS; doc = partitions.nextDoc()) {
                if (partitions.longValue() == value && (liveDocs == null || liveDocs.get(doc))) {
                    long hash = hashes.advanceExact(doc) ? hashes.longValue() : 0;
                    if (!visitor.test(storedHash(stored, doc, hash))) {
                        return;
                    }
                }
            }
        }
    }

    /**
     * Returns a reader of the entries of a partition in the order of documents. If the partition has many documents of
     * the segment, the reader decompresses each block once as a whole, instead of a part of the block for each entry.
     */
    private static StoredFields storedFields(LeafReader reader, long partition) throws IOException {
        NumericDocValues partitions = DocValues.getNumeric(reader, Fields.PARTITION);
        long entries = 0;
        while (partitions.nextDoc() != DocIdSetIterator.NO_MORE_DOCS) {
            entries += partitions.longValue() == partition ? 1 : 0;
        }
        StoredFieldsReader fields = reader instanceof CodecReader segment ? segment.getFieldsReader() : null;
        return fields != null && entries * MAX_DOCUMENTS_PER_ENTRY > reader.maxDoc()
                ? fields.getMergeInstance()
                : reader.storedFields();
    }

    private static StoredHash storedHash(StoredFields stored, int doc, long hash) throws IOException {
        try {
            StoredEntry entry =
                    StoredEntry.parse(stored.document(doc, ENTRY_FIELD).getBinaryValue(Fields.ENTRY));
            return new StoredHash(entry.puri(), hash, RowHash.of(entry.puri(), entry.entry()));
        } catch (CorruptIndexException e) {
            // The damage is in a file, not in this entry alone. The index is then built again.
            throw e;
        } catch (EOFException | RuntimeException e) {
            return StoredHash.unreadable(hash);
        }
    }
}
