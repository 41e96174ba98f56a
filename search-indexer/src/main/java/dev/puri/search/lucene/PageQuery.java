package dev.puri.search.lucene;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.search.index.Cursor;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.Entry;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.PageBudget;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.index.SearchResult;
import dev.puri.search.words.Highlighter;
import dev.puri.search.words.NameCandidates;
import dev.puri.search.words.ParsedQuery;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
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

/** One page of one query, in one view of the index. */
final class PageQuery {
    /** So many hits are counted where facets do not count them all. */
    private static final int COUNTED = 10_000;

    private static final SearchResult EMPTY = new SearchResult(List.of(), 0, true, Map.of(), Map.of(), null);

    /** Identities that are looked through at first for the page of a list. */
    private static final long STRETCH = 1024;

    private static final SortField BY_TIE = new SortField(Fields.TIE, SortField.Type.LONG);

    static final Sort BY_SCORE = new Sort(SortField.FIELD_SCORE, BY_TIE);

    private final PointInTimeReader view;
    private final SearchQuery asked;
    private final CursorSeal seal;

    private PageQuery(PointInTimeReader view, SearchQuery asked, CursorSeal seal) {
        this.view = view;
        this.asked = asked;
        this.seal = seal;
    }

    /** Finds it. */
    static SearchResult of(PointInTimeReader view, SearchQuery asked, CursorSeal seal) throws IOException, Cursor.InvalidException {
        SortValues after = asked.after() == null ? null : SortValues.of(seal.open(asked, asked.after()));
        PageQuery page = new PageQuery(view, asked, seal);
        return asked.text() == null ? page.list(after) : page.search(asked.text(), after);
    }

    private SearchResult list(@Nullable SortValues after) throws IOException {
        Set<Row.Status> statuses = asked.statuses().isEmpty() ? EnumSet.allOf(Row.Status.class) : asked.statuses();
        BooleanQuery.Builder filters = filters(asked);
        filter(Fields.STATE, states(EntryKind.IDENTITY, statuses), filters);
        Query query = filters.build();
        Counts counts = asked.facets() ? Counts.of(view.searcher().search(query, FacetCounts.MANAGER)) : counted(query);
        Docs docs = listed(query, counts, after);
        PointInTimeReader.Entries entries = view.entries();
        List<SearchResult.Hit> hits = new ArrayList<>();
        PageBudget budget = new PageBudget();
        for (ScoreDoc doc : docs.page()) {
            SearchResult.Hit hit = listed(entries.at(doc.doc), entries);
            if (!budget.takes(hit)) {
                break;
            }
            hits.add(hit);
        }
        return docs.result(hits, counts);
    }

    /** So far as that costs little. */
    private Counts counted(Query query) throws IOException {
        return Counts.of(
                view.searcher().search(query, new TopFieldCollectorManager(Sort.INDEXORDER, 1, COUNTED)).totalHits);
    }

    private Docs listed(Query query, Counts counts, @Nullable SortValues after) throws IOException {
        boolean newest = asked.order() == SearchQuery.Order.NEWEST;
        Sort sort = new Sort(
                new SortField(Fields.UUID_HIGH, SortField.Type.LONG, newest),
                new SortField(Fields.UUID_LOW, SortField.Type.LONG, newest),
                BY_TIE);
        if (counts.exact() && counts.total() <= COUNTED) {
            return top(query, sort, after);
        }
        long from = after != null ? (Long) after.sortedBy()[0] : newest ? Long.MAX_VALUE : Long.MIN_VALUE;
        IndexReader reader = view.searcher().getIndexReader();
        // As many as should do, were those that fit spread evenly.
        long many = Math.max(STRETCH, 2 * most() * (reader.maxDoc() / counts.total()));
        while (true) {
            UuidRange stretch = UuidRange.from(from, newest, many, reader);
            Query within = new BooleanQuery.Builder()
                    .add(query, Occur.FILTER)
                    .add(stretch.query(), Occur.FILTER)
                    .build();
            Docs docs = top(within, sort, after);
            if (stretch.all() || docs.areMany()) {
                return docs;
            }
            many *= 16;
        }
    }

    private static SearchResult.Hit listed(StoredEntry identity, PointInTimeReader.Entries entries) throws IOException {
        StoredEntry document = entries.having(Fields.key(EntryKind.DOCUMENT, identity.puri()));
        Map<String, String> attributes = document == null ? Map.of() : document.shown();
        Row row = ((Entry.OfIdentity) identity.entry()).row();
        return new SearchResult.Hit(
                identity.puri(),
                row.owner(),
                row.shard(),
                row.handle(),
                row.status(),
                row.mergedInto(),
                null,
                attributes,
                Map.of());
    }

    private SearchResult search(String typed, @Nullable SortValues after) throws IOException {
        ParsedQuery wanted = ParsedQuery.parse(typed);
        Set<BytesRef> named = named(NameCandidates.of(typed));
        if (wanted.clauses().isEmpty() && named.isEmpty()) {
            return EMPTY;
        }
        Query query = filtered(TextQuery.of(view.searcher().getIndexReader(), wanted, named), asked);
        Docs docs;
        Counts counts;
        if (asked.facets()) {
            Object[] both = view.searcher()
                    .search(
                            query,
                            new MultiCollectorManager(
                                    new TopFieldCollectorManager(BY_SCORE, most(), afterDoc(after), Integer.MAX_VALUE),
                                    FacetCounts.MANAGER));
            docs = new Docs(((TopFieldDocs) both[0]).scoreDocs);
            counts = Counts.of((FacetCounts) both[1]);
        } else {
            TopFieldDocs top = view.searcher()
                    .search(query, new TopFieldCollectorManager(BY_SCORE, most(), afterDoc(after), COUNTED));
            docs = new Docs(top.scoreDocs);
            counts = Counts.of(top.totalHits);
        }
        PointInTimeReader.Entries entries = view.entries();
        Highlighter highlighter = new Highlighter(wanted);
        List<SearchResult.Hit> hits = new ArrayList<>();
        PageBudget budget = new PageBudget();
        for (ScoreDoc doc : docs.page()) {
            double score = (Float) ((FieldDoc) doc).fields[0];
            SearchResult.Hit hit = found(entries.at(doc.doc), score, highlighter);
            if (!budget.takes(hit)) {
                break;
            }
            hits.add(hit);
        }
        return docs.result(hits, counts);
    }

    /**
     * The keys of entries whose name was typed, among those that the filters let pass: of the document where there is
     * one, otherwise of the identity, which every name has.
     */
    private Set<BytesRef> named(NameCandidates names) throws IOException {
        List<Term> terms = new ArrayList<>();
        if (names.puri() != null) {
            terms.add(Fields.key(EntryKind.IDENTITY, names.puri()));
        }
        if (names.handle() != null) {
            terms.add(Fields.handle(names.handle()));
        }
        names.identifiers().forEach(identifier -> terms.add(Fields.identifier(identifier)));
        BooleanQuery.Builder any = new BooleanQuery.Builder();
        boolean isAny = false;
        for (Term term : terms) {
            // Most of what is typed is nobody's name.
            if (view.searcher().getIndexReader().docFreq(term) > 0) {
                any.add(new TermQuery(term), Occur.SHOULD);
                isAny = true;
            }
        }
        if (!isAny) {
            return Set.of();
        }
        BooleanQuery.Builder filters = filters(asked).add(any.build(), Occur.FILTER);
        if (!asked.statuses().isEmpty()) {
            filter(Fields.STATE, states(EntryKind.IDENTITY, asked.statuses()), filters);
        }
        ScoreDoc[] found = view.searcher()
                .search(
                        filters.build(),
                        new TopFieldCollectorManager(Sort.INDEXORDER, NameCandidates.MAX_OBJECTS + 1, Integer.MAX_VALUE))
                .scoreDocs;
        Set<BytesRef> keys = new HashSet<>();
        if (found.length <= NameCandidates.MAX_OBJECTS) {
            PointInTimeReader.Entries entries = view.entries();
            for (ScoreDoc doc : found) {
                Puri puri = entries.at(doc.doc).puri();
                Term document = Fields.key(EntryKind.DOCUMENT, puri);
                keys.add((entries.having(document) != null ? document : Fields.key(EntryKind.IDENTITY, puri)).bytes());
            }
        }
        return keys;
    }

    /**
     * What a text's query finds and a search's filters let pass. What is merged is left out rather than what is active
     * asked for: there is little of it to look at.
     */
    static Query filtered(Query text, SearchQuery asked) {
        BooleanQuery.Builder filters = filters(asked);
        if (asked.statuses().isEmpty()) {
            return filters.add(text, Occur.MUST).build();
        }
        if (!asked.statuses().contains(Row.Status.ACTIVE)) {
            List<BytesRef> states = new ArrayList<>(states(EntryKind.DOCUMENT, asked.statuses()));
            states.addAll(states(EntryKind.IDENTITY, asked.statuses()));
            filter(Fields.STATE, states, filters);
        } else if (!asked.statuses().contains(Row.Status.MERGED)) {
            BytesRef merged = Fields.state(EntryKind.DOCUMENT, Row.Status.MERGED);
            filters.add(new TermQuery(new Term(Fields.STATE, merged)), Occur.MUST_NOT);
        }
        return filters.add(text, Occur.MUST).build();
    }

    private SearchResult.Hit found(StoredEntry stored, double score, Highlighter highlighter) {
        Entry entry = stored.entry();
        Map<String, String> attributes = stored.shown();
        return new SearchResult.Hit(
                stored.puri(),
                entry.owner(),
                entry.shard(),
                entry.handle(),
                entry.status(),
                stored.mergedInto(),
                score,
                attributes,
                asked.highlights() ? highlighter.of(attributes) : Map.of());
    }

    private static BooleanQuery.Builder filters(SearchQuery asked) {
        BooleanQuery.Builder filters = new BooleanQuery.Builder();
        filter(Fields.NAMESPACE, bytes(asked.namespaces()), filters);
        filter(Fields.COLLECTION, bytes(asked.collections()), filters);
        filter(Fields.SHARD, bytes(asked.shards()), filters);
        filter(Fields.OWNER, bytes(asked.owners()), filters);
        return filters;
    }

    private static void filter(String field, List<BytesRef> values, BooleanQuery.Builder filters) {
        if (values.size() == 1) {
            filters.add(new TermQuery(new Term(field, values.getFirst())), Occur.FILTER);
        } else if (!values.isEmpty()) {
            filters.add(new TermInSetQuery(field, values), Occur.FILTER);
        }
    }

    private static List<BytesRef> states(EntryKind kind, Set<Row.Status> statuses) {
        return statuses.stream().map(status -> Fields.state(kind, status)).toList();
    }

    private static List<BytesRef> bytes(Collection<String> texts) {
        return texts.stream().map(BytesRef::new).toList();
    }

    private Docs top(Query query, Sort sort, @Nullable SortValues after) throws IOException {
        return new Docs(view.searcher()
                .search(query, new TopFieldCollectorManager(sort, most(), afterDoc(after), COUNTED))
                .scoreDocs);
    }

    private static @Nullable FieldDoc afterDoc(@Nullable SortValues after) {
        return after == null ? null : after.asDoc();
    }

    /** One more than is shown tells whether there is a next page. */
    private int most() {
        return Math.min(
                        asked.limit(),
                        Math.max(1, view.searcher().getIndexReader().maxDoc()))
                + 1;
    }

    /** The page's hits, and one more if there is a next page. */
    private final class Docs {
        private final ScoreDoc[] docs;

        private Docs(ScoreDoc[] docs) {
            this.docs = docs;
        }

        private boolean areMany() {
            return docs.length == most();
        }

        private List<ScoreDoc> page() {
            return Arrays.asList(docs).subList(0, Math.min(asked.limit(), docs.length));
        }

        private SearchResult result(List<SearchResult.Hit> hits, Counts counts) {
            Cursor next = docs.length <= hits.size()
                    ? null
                    : seal.seal(asked, new SortValues(((FieldDoc) docs[hits.size() - 1]).fields).toBytes());
            return new SearchResult(
                    hits, counts.total(), counts.exact(), counts.byCollection(), counts.byShard(), next);
        }
    }

    /** How many there are on all pages. */
    private record Counts(long total, boolean exact, Map<String, Long> byCollection, Map<String, Long> byShard) {
        private static Counts of(FacetCounts facets) {
            return new Counts(facets.total(), true, facets.byCollection(), facets.byShard());
        }

        private static Counts of(TotalHits hits) {
            return new Counts(hits.value(), hits.relation() == TotalHits.Relation.EQUAL_TO, Map.of(), Map.of());
        }
    }
}
