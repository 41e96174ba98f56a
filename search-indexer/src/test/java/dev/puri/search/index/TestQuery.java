package dev.puri.search.index;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A query that is made step by step. */
public record TestQuery(SearchQuery query) {
    /** A text over what is active, with facets and highlights. */
    public static TestQuery text(String text) {
        return new TestQuery(new SearchQuery(
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

    /** A list of what is active, with facets. */
    public static TestQuery list(SearchQuery.Order order) {
        return new TestQuery(new SearchQuery(
                null, order, Set.of(), Set.of(), Set.of(), Set.of(), Set.of(Row.Status.ACTIVE), 20, null, true, false));
    }

    public TestQuery collections(String... names) {
        return with(Set.of(names), query.namespaces(), query.shards(), query.owners(), query.statuses());
    }

    public TestQuery namespaces(String... names) {
        return with(query.collections(), Set.of(names), query.shards(), query.owners(), query.statuses());
    }

    public TestQuery shards(String... names) {
        return with(query.collections(), query.namespaces(), Set.of(names), query.owners(), query.statuses());
    }

    public TestQuery owners(String... names) {
        return with(query.collections(), query.namespaces(), query.shards(), Set.of(names), query.statuses());
    }

    public TestQuery statuses(Row.Status... statuses) {
        return with(query.collections(), query.namespaces(), query.shards(), query.owners(), Set.of(statuses));
    }

    public TestQuery limit(int limit) {
        return page(limit, query.after(), query.facets(), query.highlights());
    }

    public TestQuery after(Cursor cursor) {
        return page(query.limit(), cursor, query.facets(), query.highlights());
    }

    public TestQuery plain() {
        return page(query.limit(), query.after(), false, false);
    }

    /** The page. */
    public SearchResult of(SearchIndex index) throws Exception {
        return index.search(query);
    }

    /** The pURIs of the page. */
    public List<String> purisOf(SearchIndex index) throws Exception {
        return puris(of(index));
    }

    public static List<String> puris(SearchResult result) {
        return result.hits().stream()
                .map(SearchResult.Hit::puri)
                .map(Puri::toString)
                .toList();
    }

    /** The pURIs of all pages, with something done between them. */
    public List<String> allPagesOf(SearchIndex index, Runnable between) throws Exception {
        List<String> puris = new ArrayList<>();
        TestQuery page = this;
        for (int pages = 0; pages < 10_000; pages++) {
            SearchResult result = page.of(index);
            puris.addAll(puris(result));
            if (result.next() == null) {
                return puris;
            }
            page = after(result.next());
            between.run();
        }
        throw new AssertionError("the pages do not end");
    }

    private TestQuery with(
            Set<String> collections,
            Set<String> namespaces,
            Set<String> shards,
            Set<String> owners,
            Set<Row.Status> statuses) {
        return new TestQuery(new SearchQuery(
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

    private TestQuery page(int limit, Cursor after, boolean facets, boolean highlights) {
        return new TestQuery(new SearchQuery(
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
