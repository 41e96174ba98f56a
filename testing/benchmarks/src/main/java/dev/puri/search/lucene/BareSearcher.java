package dev.puri.search.lucene;

import dev.puri.search.index.SearchQuery;
import dev.puri.search.words.ParsedQuery;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MultiCollectorManager;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopFieldCollectorManager;
import org.apache.lucene.search.TopFieldDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;

/** Lucene's searcher over the last commit of a {@link LuceneIndex}, with the queries that {@link PageQuery} builds. */
public final class BareSearcher implements AutoCloseable {
    private static final Set<String> ENTRY = Set.of(Fields.ENTRY);

    private final Directory directory;
    private final DirectoryReader reader;
    private final IndexSearcher searcher;

    private BareSearcher(Directory directory, DirectoryReader reader) {
        this.directory = directory;
        this.reader = reader;
        this.searcher = new IndexSearcher(reader);
    }

    /**
     * @param folder of a {@link LuceneIndex}
     */
    public static BareSearcher open(Path folder) throws IOException {
        Directory directory = FSDirectory.open(folder);
        return new BareSearcher(directory, DirectoryReader.open(directory));
    }

    /** A query of Lucene whose words are already looked up. */
    public record Prepared(Query query, int limit) {}

    /** Looks up the words of the query text in the index, and builds the query. */
    public Prepared prepare(SearchQuery query) throws IOException {
        ParsedQuery parsed = ParsedQuery.parse(Objects.requireNonNull(query.text()));
        return new Prepared(
                PageQuery.withFilters(LuceneQueryBuilder.of(reader, parsed, Set.of()), query), query.limit());
    }

    /**
     * The hits of a query.
     *
     * @param total number of all hits
     * @param docs numbers of the best hits' documents
     */
    public record Found(long total, List<ScoreDoc> docs) {}

    /** Searches, and counts the hits by collection and shard. Does not read the hits. */
    public Found search(Prepared prepared) throws IOException {
        Object[] results = searcher.search(
                prepared.query,
                new MultiCollectorManager(
                        new TopFieldCollectorManager(PageQuery.BY_SCORE, prepared.limit, null, Integer.MAX_VALUE),
                        FacetCounts.MANAGER));
        return new Found(((FacetCounts) results[1]).total(), List.of(((TopFieldDocs) results[0]).scoreDocs));
    }

    /** Reads the stored bytes of hits, and returns the number of bytes. */
    public long read(Found found) throws IOException {
        StoredFields stored = reader.storedFields();
        long bytes = 0;
        for (ScoreDoc doc : found.docs) {
            bytes += stored.document(doc.doc, ENTRY).getBinaryValue(Fields.ENTRY).length;
        }
        return bytes;
    }

    /** Returns the pURIs of hits. */
    public List<String> puris(Found found) throws IOException {
        PointInTimeReader.Entries entries = new PointInTimeReader(searcher).entries();
        List<String> puris = new ArrayList<>();
        for (ScoreDoc doc : found.docs) {
            puris.add(entries.at(doc.doc).puri().toString());
        }
        return puris;
    }

    @Override
    public void close() throws IOException {
        reader.close();
        directory.close();
    }
}
