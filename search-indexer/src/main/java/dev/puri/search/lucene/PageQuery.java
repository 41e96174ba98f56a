package dev.puri.search.lucene;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.search.index.Cursor;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.PageBudget;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.index.SearchResult;
import dev.puri.search.words.Highlighter;
import dev.puri.search.words.NameCandidates;
import dev.puri.search.words.ParsedQuery;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.MultiCollectorManager;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TermInSetQuery;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopFieldCollectorManager;
import org.apache.lucene.search.TopFieldDocs;
import org.apache.lucene.search.TotalHits;
import org.apache.lucene.util.BytesRef;
import org.jspecify.annotations.Nullable;

/** Runs a {@link SearchQuery} on a point-in-time view and returns one page. */
final class PageQuery {
    /** Hits are counted up to about this number. With facets all hits are counted. */
    private static final int MAX_COUNTED_HITS = 10_000;

    /** Minimum number of identities in the first {@link UuidRange} of a list. */
    private static final long MIN_RANGE_COUNT = 1024;

    /** Factor by which the {@link UuidRange} grows if it has too few hits for a page. */
    private static final int RANGE_GROWTH = 16;

    private static final SortField BY_TIE = new SortField(Fields.TIE, SortField.Type.LONG);

    static final Sort BY_SCORE = new Sort(SortField.FIELD_SCORE, BY_TIE);

    private final PointInTimeReader reader;
    private final SearchQuery query;
    private final CursorSeal seal;

    private PageQuery(PointInTimeReader reader, SearchQuery query, CursorSeal seal) {
        this.reader = reader;
        this.query = query;
        this.seal = seal;
    }

    /** Returns the page of a query. */
    static SearchResult run(PointInTimeReader reader, SearchQuery query, CursorSeal seal)
            throws IOException, Cursor.InvalidException {
        SortValues after = query.after() == null ? null : SortValues.parse(seal.open(query, query.after()));
        PageQuery page = new PageQuery(reader, query, seal);
        return query.text() == null ? page.listPage(after) : page.searchPage(query.text(), after);
    }

    private SearchResult listPage(@Nullable SortValues after) throws IOException {
        Set<Row.Status> statuses = query.statuses().isEmpty() ? EnumSet.allOf(Row.Status.class) : query.statuses();
        BooleanQuery.Builder filters = filters(query);
        addFilter(Fields.STATE, states(EntryKind.IDENTITY, statuses), filters);
        Query filter = filters.build();
        Counts counts =
                query.facets() ? Counts.of(reader.searcher().search(filter, FacetCounts.MANAGER)) : countHits(filter);
        PageDocs docs = findListDocs(filter, counts, after);
        PointInTimeReader.Entries entries = reader.entries();
        return docs.toResult(counts, doc -> listHit(entries.at(doc.doc), entries));
    }

    private Counts countHits(Query filter) throws IOException {
        return Counts.of(reader.searcher()
                .search(filter, new TopFieldCollectorManager(Sort.INDEXORDER, 1, MAX_COUNTED_HITS))
                .totalHits);
    }

    /** Returns the documents of a page of a list. A long list is searched in a {@link UuidRange} only. */
    private PageDocs findListDocs(Query filter, Counts counts, @Nullable SortValues after) throws IOException {
        boolean newestFirst = query.order() == SearchQuery.Order.NEWEST;
        Sort sort = new Sort(
                new SortField(Fields.UUID_HIGH, SortField.Type.LONG, newestFirst),
                new SortField(Fields.UUID_LOW, SortField.Type.LONG, newestFirst),
                BY_TIE);
        if (counts.isExact() && counts.total() <= MAX_COUNTED_HITS) {
            return findDocs(filter, sort, after);
        }
        long start = after != null ? (Long) after.values()[0] : newestFirst ? Long.MAX_VALUE : Long.MIN_VALUE;
        IndexReader indexReader = reader.searcher().getIndexReader();
        // If the hits are spread evenly over all identities, this range has twice the hits of a page.
        long rangeCount = Math.max(MIN_RANGE_COUNT, 2 * fetchSize() * (indexReader.maxDoc() / counts.total()));
        while (true) {
            UuidRange range = UuidRange.find(start, newestFirst, rangeCount, indexReader);
            Query inRange = new BooleanQuery.Builder()
                    .add(filter, Occur.FILTER)
                    .add(range.query(), Occur.FILTER)
                    .build();
            PageDocs docs = findDocs(inRange, sort, after);
            if (range.isLast() || docs.isFull()) {
                return docs;
            }
            rangeCount *= RANGE_GROWTH;
        }
    }

    private static SearchResult.Hit listHit(StoredEntry identity, PointInTimeReader.Entries entries)
            throws IOException {
        StoredEntry document = entries.find(Fields.key(EntryKind.DOCUMENT, identity.puri()));
        Map<String, String> attributes = document == null ? Map.of() : document.attributes();
        return SearchResult.Hit.of(identity.puri(), identity.entry(), null, attributes, Map.of());
    }

    private SearchResult searchPage(String text, @Nullable SortValues after) throws IOException {
        ParsedQuery parsedQuery = ParsedQuery.parse(text);
        Set<BytesRef> nameMatchKeys = findNameMatchKeys(NameCandidates.parse(text));
        if (parsedQuery.clauses().isEmpty() && nameMatchKeys.isEmpty()) {
            return SearchResult.EMPTY;
        }
        Query textQuery = withFilters(
                LuceneQueryBuilder.of(reader.searcher().getIndexReader(), parsedQuery, nameMatchKeys), query);
        PageDocs docs;
        Counts counts;
        if (query.facets()) {
            Object[] docsAndFacets = reader.searcher()
                    .search(
                            textQuery,
                            new MultiCollectorManager(
                                    new TopFieldCollectorManager(
                                            BY_SCORE, fetchSize(), toFieldDoc(after), Integer.MAX_VALUE),
                                    FacetCounts.MANAGER));
            docs = new PageDocs(((TopFieldDocs) docsAndFacets[0]).scoreDocs);
            counts = Counts.of((FacetCounts) docsAndFacets[1]);
        } else {
            TopFieldDocs topDocs = reader.searcher()
                    .search(
                            textQuery,
                            new TopFieldCollectorManager(BY_SCORE, fetchSize(), toFieldDoc(after), MAX_COUNTED_HITS));
            docs = new PageDocs(topDocs.scoreDocs);
            counts = Counts.of(topDocs.totalHits);
        }
        PointInTimeReader.Entries entries = reader.entries();
        Highlighter highlighter = new Highlighter(parsedQuery);
        return docs.toResult(counts, doc -> textHit(entries.at(doc.doc), doc, highlighter));
    }

    /**
     * Finds the identities with a typed name that pass the filters. Returns one key for each: the key of the document
     * entry if the identity has one, otherwise the key of the identity entry.
     */
    private Set<BytesRef> findNameMatchKeys(NameCandidates names) throws IOException {
        List<Term> terms = new ArrayList<>();
        if (names.puri() != null) {
            terms.add(Fields.key(EntryKind.IDENTITY, names.puri()));
        }
        if (names.handle() != null) {
            terms.add(Fields.handle(names.handle()));
        }
        names.identifiers().forEach(identifier -> terms.add(Fields.identifier(identifier)));
        BooleanQuery.Builder anyName = new BooleanQuery.Builder();
        boolean termExists = false;
        for (Term term : terms) {
            // Most typed texts are not a name, and this check is cheaper than a search.
            if (reader.searcher().getIndexReader().docFreq(term) > 0) {
                anyName.add(new TermQuery(term), Occur.SHOULD);
                termExists = true;
            }
        }
        if (!termExists) {
            return Set.of();
        }
        BooleanQuery.Builder filters = filters(query).add(anyName.build(), Occur.FILTER);
        if (!query.statuses().isEmpty()) {
            addFilter(Fields.STATE, states(EntryKind.IDENTITY, query.statuses()), filters);
        }
        ScoreDoc[] identities = reader.searcher()
                .search(
                        filters.build(),
                        new TopFieldCollectorManager(
                                Sort.INDEXORDER, NameCandidates.MAX_IDENTITIES + 1, Integer.MAX_VALUE))
                .scoreDocs;
        Set<BytesRef> keys = new HashSet<>();
        if (identities.length <= NameCandidates.MAX_IDENTITIES) {
            PointInTimeReader.Entries entries = reader.entries();
            for (ScoreDoc doc : identities) {
                Puri puri = entries.at(doc.doc).puri();
                Term documentKey = Fields.key(EntryKind.DOCUMENT, puri);
                boolean hasDocument = entries.find(documentKey) != null;
                keys.add((hasDocument ? documentKey : Fields.key(EntryKind.IDENTITY, puri)).bytes());
            }
        }
        return keys;
    }

    /**
     * Adds the filters of a search to the query of its text. If the search allows active but not merged identities, the
     * filter excludes merged identities, because there are few of them.
     */
    static Query withFilters(Query textQuery, SearchQuery query) {
        BooleanQuery.Builder filters = filters(query);
        if (query.statuses().isEmpty()) {
            return filters.add(textQuery, Occur.MUST).build();
        }
        if (!query.statuses().contains(Row.Status.ACTIVE)) {
            List<BytesRef> states = new ArrayList<>(states(EntryKind.DOCUMENT, query.statuses()));
            states.addAll(states(EntryKind.IDENTITY, query.statuses()));
            addFilter(Fields.STATE, states, filters);
        } else if (!query.statuses().contains(Row.Status.MERGED)) {
            BytesRef mergedState = Fields.state(EntryKind.DOCUMENT, Row.Status.MERGED);
            filters.add(new TermQuery(new Term(Fields.STATE, mergedState)), Occur.MUST_NOT);
        }
        return filters.add(textQuery, Occur.MUST).build();
    }

    private SearchResult.Hit textHit(StoredEntry storedEntry, ScoreDoc doc, Highlighter highlighter) {
        double score = (Float) ((FieldDoc) doc).fields[0];
        Map<String, String> attributes = storedEntry.attributes();
        return SearchResult.Hit.of(
                storedEntry.puri(),
                storedEntry.entry(),
                score,
                attributes,
                query.highlights() ? highlighter.highlight(attributes) : Map.of());
    }

    private static BooleanQuery.Builder filters(SearchQuery query) {
        BooleanQuery.Builder filters = new BooleanQuery.Builder();
        addFilter(Fields.NAMESPACE, toBytesRefs(query.namespaces()), filters);
        addFilter(Fields.COLLECTION, toBytesRefs(query.collections()), filters);
        addFilter(Fields.SHARD, toBytesRefs(query.shards()), filters);
        addFilter(Fields.OWNER, toBytesRefs(query.owners()), filters);
        return filters;
    }

    private static void addFilter(String field, List<BytesRef> values, BooleanQuery.Builder filters) {
        if (values.size() == 1) {
            filters.add(new TermQuery(new Term(field, values.getFirst())), Occur.FILTER);
        } else if (!values.isEmpty()) {
            filters.add(new TermInSetQuery(field, values), Occur.FILTER);
        }
    }

    private static List<BytesRef> states(EntryKind kind, Set<Row.Status> statuses) {
        return statuses.stream().map(status -> Fields.state(kind, status)).toList();
    }

    private static List<BytesRef> toBytesRefs(Collection<String> texts) {
        return texts.stream().map(BytesRef::new).toList();
    }

    private PageDocs findDocs(Query filter, Sort sort, @Nullable SortValues after) throws IOException {
        return new PageDocs(reader.searcher()
                .search(filter, new TopFieldCollectorManager(sort, fetchSize(), toFieldDoc(after), MAX_COUNTED_HITS))
                .scoreDocs);
    }

    private static @Nullable FieldDoc toFieldDoc(@Nullable SortValues after) {
        return after == null ? null : after.toFieldDoc();
    }

    /** Returns the number of hits to fetch: a page and one more, which shows that there is a next page. */
    private int fetchSize() {
        return Math.min(
                        query.limit(),
                        Math.max(1, reader.searcher().getIndexReader().maxDoc()))
                + 1;
    }

    /** Converts a Lucene document into a hit. */
    private interface HitReader {
        SearchResult.Hit read(ScoreDoc doc) throws IOException;
    }

    /** The Lucene documents of a page, and one more if there is a next page. */
    private final class PageDocs {
        private final ScoreDoc[] docs;

        private PageDocs(ScoreDoc[] docs) {
            this.docs = docs;
        }

        /** Returns whether there are enough documents for the page and one more. */
        private boolean isFull() {
            return docs.length == fetchSize();
        }

        private SearchResult toResult(Counts counts, HitReader hitReader) throws IOException {
            List<SearchResult.Hit> hits = new ArrayList<>();
            PageBudget budget = new PageBudget();
            for (int i = 0; i < Math.min(query.limit(), docs.length); i++) {
                SearchResult.Hit hit = hitReader.read(docs[i]);
                if (!budget.add(hit)) {
                    break;
                }
                hits.add(hit);
            }
            Cursor next = docs.length <= hits.size()
                    ? null
                    : seal.seal(query, new SortValues(((FieldDoc) docs[hits.size() - 1]).fields).toBytes());
            return new SearchResult(
                    hits, counts.total(), counts.isExact(), counts.byCollection(), counts.byShard(), next);
        }
    }

    /**
     * The number of hits on all pages.
     *
     * @param isExact false if the total is a lower bound
     */
    private record Counts(long total, boolean isExact, Map<String, Long> byCollection, Map<String, Long> byShard) {
        private static Counts of(FacetCounts facets) {
            return new Counts(facets.total(), true, facets.byCollection(), facets.byShard());
        }

        private static Counts of(TotalHits hits) {
            return new Counts(hits.value(), hits.relation() == TotalHits.Relation.EQUAL_TO, Map.of(), Map.of());
        }
    }
}
