package dev.puri.search.index;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A query for tests; its methods return changed copies or run it. */
public record SampleQuery(SearchQuery query) {
    /** Returns a text search for active identities, with facets and highlights. */
    public static SampleQuery text(String text) {
        return new SampleQuery(new SearchQuery(
                text,
                SearchQuery.Order.RELEVANCE,
                Set.of(),
                Set.of(),
                Set.of(),
                Set.of(),
                Set.of(Row.Status.ACTIVE),
                20,
                null,
                true,
                true));
    }

    /** Returns a list of active identities, with facets. */
    public static SampleQuery list(SearchQuery.Order order) {
        return new SampleQuery(new SearchQuery(
                null, order, Set.of(), Set.of(), Set.of(), Set.of(), Set.of(Row.Status.ACTIVE), 20, null, true, false));
    }

    public SampleQuery collections(String... names) {
        return with(Set.of(names), query.namespaces(), query.shards(), query.owners(), query.statuses());
    }

    public SampleQuery namespaces(String... names) {
        return with(query.collections(), Set.of(names), query.shards(), query.owners(), query.statuses());
    }

    public SampleQuery shards(String... names) {
        return with(query.collections(), query.namespaces(), Set.of(names), query.owners(), query.statuses());
    }

    public SampleQuery owners(String... names) {
        return with(query.collections(), query.namespaces(), query.shards(), Set.of(names), query.statuses());
    }

    public SampleQuery statuses(Row.Status... statuses) {
        return with(query.collections(), query.namespaces(), query.shards(), query.owners(), Set.of(statuses));
    }

    public SampleQuery limit(int limit) {
        return page(limit, query.after(), query.facets(), query.highlights());
    }

    public SampleQuery after(Cursor cursor) {
        return page(query.limit(), cursor, query.facets(), query.highlights());
    }

    /** Returns the query without facets and highlights. */
    public SampleQuery plain() {
        return page(query.limit(), query.after(), false, false);
    }

    /** Runs the query. */
    public SearchResult run(SearchIndex index) throws Exception {
        return index.search(query);
    }

    /** Runs the query and returns the pURIs of the page. */
    public List<String> purisOf(SearchIndex index) throws Exception {
        return puris(run(index));
    }

    public static List<String> puris(SearchResult result) {
        return result.hits().stream()
                .map(SearchResult.Hit::puri)
                .map(Puri::toString)
                .toList();
    }

    /** Returns the pURIs of all pages, and runs an action between two pages. */
    public List<String> allPagesOf(SearchIndex index, Runnable between) throws Exception {
        List<String> puris = new ArrayList<>();
        SampleQuery page = this;
        for (int pages = 0; pages < 10_000; pages++) {
            SearchResult result = page.run(index);
            puris.addAll(puris(result));
            if (result.next() == null) {
                return puris;
            }
            page = after(result.next());
            between.run();
        }
        throw new AssertionError("there are more than 10,000 pages");
    }

    private SampleQuery with(
            Set<String> collections,
            Set<String> namespaces,
            Set<String> shards,
            Set<String> owners,
            Set<Row.Status> statuses) {
        return new SampleQuery(new SearchQuery(
                query.text(),
                query.order(),
                collections,
                namespaces,
                shards,
                owners,
                statuses,
                query.limit(),
                query.after(),
                query.facets(),
                query.highlights()));
    }

    private SampleQuery page(int limit, Cursor after, boolean facets, boolean highlights) {
        return new SampleQuery(new SearchQuery(
                query.text(),
                query.order(),
                query.collections(),
                query.namespaces(),
                query.shards(),
                query.owners(),
                query.statuses(),
                limit,
                after,
                facets,
                highlights));
    }
}
