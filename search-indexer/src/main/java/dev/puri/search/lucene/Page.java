package dev.puri.search.lucene;

import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Row;
import dev.puri.search.index.Cursor;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.Entry;
import dev.puri.search.index.Kind;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.index.SearchResult;
import dev.puri.search.words.Highlighter;
import dev.puri.search.words.Wanted;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.MultiCollectorManager;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TermInSetQuery;
import org.apache.lucene.search.TopFieldCollectorManager;
import org.apache.lucene.search.TopFieldDocs;
import org.apache.lucene.search.TotalHits;
import org.apache.lucene.util.BytesRef;
import org.jspecify.annotations.Nullable;

/** One page of one query, in one view of the index. */
final class Page {
    /** So many hits are counted where facets do not count them all. */
    private static final int COUNTED = 10_000;

    private static final SearchResult EMPTY = new SearchResult(List.of(), 0, true, Map.of(), Map.of(), null);

    private static final SortField BY_PURI = new SortField(Fields.PURI, SortField.Type.STRING);

    private final View view;
    private final SearchQuery asked;
    private final CursorSeal seal;

    private Page(View view, SearchQuery asked, CursorSeal seal) {
        this.view = view;
        this.asked = asked;
        this.seal = seal;
    }

    /** Finds it. */
    static SearchResult of(View view, SearchQuery asked, CursorSeal seal) throws IOException, Cursor.InvalidException {
        Place after = asked.after() == null ? null : Place.of(seal.open(asked, asked.after()));
        Page page = new Page(view, asked, seal);
        return asked.text() == null ? page.list(after) : page.search(Wanted.parse(asked.text()), after);
    }

    private SearchResult list(@Nullable Place after) throws IOException {
        Set<Row.Status> statuses = asked.statuses().isEmpty() ? EnumSet.allOf(Row.Status.class) : asked.statuses();
        Query query = filters(Kind.IDENTITY, statuses).build();
        Found found = find(query, sort(asked.order()), after);
        View.Entries entries = view.entries();
        List<SearchResult.Hit> hits = new ArrayList<>();
        for (ScoreDoc doc : found.page()) {
            hits.add(listed(entries.at(doc.doc), entries));
        }
        return found.result(hits, false);
    }

    private static SearchResult.Hit listed(StoredEntry identity, View.Entries entries) throws IOException {
        StoredEntry document = entries.having(Fields.key(Kind.DOCUMENT, identity.puri()));
        Map<String, String> attributes = document == null
                ? Map.of()
                : ((Entry.OfDocument) document.entry()).document().attributes();
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

    private SearchResult search(Wanted wanted, @Nullable Place after) throws IOException {
        if (wanted.clauses().isEmpty()) {
            return EMPTY;
        }
        TextQuery.Made text = after == null
                ? TextQuery.first(view.searcher().getIndexReader(), wanted)
                : TextQuery.next(view.searcher().getIndexReader(), wanted, after.coarse());
        Query query = filters(Kind.DOCUMENT, asked.statuses())
                .add(text.query(), Occur.MUST)
                .build();
        Found found = find(query, new Sort(SortField.FIELD_SCORE, BY_PURI), after);
        View.Entries entries = view.entries();
        Highlighter highlighter = new Highlighter(wanted);
        List<SearchResult.Hit> hits = new ArrayList<>();
        for (ScoreDoc doc : found.page()) {
            double score = (Float) ((FieldDoc) doc).fields[0];
            hits.add(found(entries.at(doc.doc), score, highlighter));
        }
        return found.result(hits, text.coarse());
    }

    private SearchResult.Hit found(StoredEntry stored, double score, Highlighter highlighter) {
        Document document = ((Entry.OfDocument) stored.entry()).document();
        return new SearchResult.Hit(
                stored.puri(),
                document.owner(),
                document.shard(),
                document.handle(),
                document.status(),
                document.mergedInto(),
                score,
                document.attributes(),
                asked.highlights() ? highlighter.of(document.attributes()) : Map.of());
    }

    private BooleanQuery.Builder filters(Kind kind, Set<Row.Status> statuses) {
        BooleanQuery.Builder filters = new BooleanQuery.Builder();
        filter(
                Fields.STATE,
                statuses.stream().map(status -> Fields.state(kind, status)).toList(),
                filters);
        filter(Fields.NAMESPACE, bytes(asked.namespaces()), filters);
        filter(Fields.COLLECTION, bytes(asked.collections()), filters);
        filter(Fields.SHARD, bytes(asked.shards()), filters);
        filter(Fields.OWNER, bytes(asked.owners()), filters);
        return filters;
    }

    private static void filter(String field, List<BytesRef> values, BooleanQuery.Builder filters) {
        if (!values.isEmpty()) {
            filters.add(new TermInSetQuery(field, values), Occur.FILTER);
        }
    }

    private static List<BytesRef> bytes(Collection<String> texts) {
        return texts.stream().map(BytesRef::new).toList();
    }

    private static Sort sort(SearchQuery.Order order) {
        boolean newest = order == SearchQuery.Order.NEWEST;
        return new Sort(
                new SortField(Fields.UUID_HIGH, SortField.Type.LONG, newest),
                new SortField(Fields.UUID_LOW, SortField.Type.LONG, newest),
                BY_PURI);
    }

    private Found find(Query query, Sort sort, @Nullable Place after) throws IOException {
        FieldDoc afterDoc = after == null ? null : after.asDoc();
        // One more than is shown tells whether there is a next page.
        int most = Math.min(
                        asked.limit(),
                        Math.max(1, view.searcher().getIndexReader().maxDoc()))
                + 1;
        if (!asked.facets()) {
            TopFieldDocs top = view.searcher()
                    .search(query, new TopFieldCollectorManager(sort, most, afterDoc, Math.max(COUNTED, most)));
            boolean exact = top.totalHits.relation() == TotalHits.Relation.EQUAL_TO;
            return new Found(top.scoreDocs, top.totalHits.value(), exact, Map.of(), Map.of());
        }
        Object[] both = view.searcher()
                .search(
                        query,
                        new MultiCollectorManager(
                                new TopFieldCollectorManager(sort, most, afterDoc, Integer.MAX_VALUE),
                                FacetCounts.MANAGER));
        FacetCounts counts = (FacetCounts) both[1];
        return new Found(
                ((TopFieldDocs) both[0]).scoreDocs, counts.total(), true, counts.byCollection(), counts.byShard());
    }

    /** What was found, with one hit more than the page has if there is a next. */
    private final class Found {
        private final ScoreDoc[] docs;
        private final SearchResult counted;

        private Found(
                ScoreDoc[] docs, long total, boolean exact, Map<String, Long> byCollection, Map<String, Long> byShard) {
            this.docs = docs;
            this.counted = new SearchResult(List.of(), total, exact, byCollection, byShard, null);
        }

        private List<ScoreDoc> page() {
            return Arrays.asList(docs).subList(0, Math.min(asked.limit(), docs.length));
        }

        private SearchResult result(List<SearchResult.Hit> hits, boolean coarse) {
            Cursor next = docs.length <= asked.limit()
                    ? null
                    : seal.seal(asked, new Place(((FieldDoc) page().getLast()).fields, coarse).toBytes());
            return new SearchResult(
                    hits, counted.total(), counted.totalIsExact(), counted.byCollection(), counted.byShard(), next);
        }
    }
}
