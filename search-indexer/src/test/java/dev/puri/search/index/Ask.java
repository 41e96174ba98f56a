package dev.puri.search.index;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A query that is made step by step. */
public record Ask(SearchQuery query) {
    /** A text over what is active, with facets and highlights. */
    public static Ask text(String text) {
        return new Ask(new SearchQuery(
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
    public static Ask list(SearchQuery.Order order) {
        return new Ask(new SearchQuery(
                null, order, Set.of(), Set.of(), Set.of(), Set.of(), Set.of(Row.Status.ACTIVE), 20, null, true, false));
    }

    public Ask collections(String... names) {
        return with(Set.of(names), query.namespaces(), query.shards(), query.owners(), query.statuses());
    }

    public Ask namespaces(String... names) {
        return with(query.collections(), Set.of(names), query.shards(), query.owners(), query.statuses());
    }

    public Ask shards(String... names) {
        return with(query.collections(), query.namespaces(), Set.of(names), query.owners(), query.statuses());
    }

    public Ask owners(String... names) {
        return with(query.collections(), query.namespaces(), query.shards(), Set.of(names), query.statuses());
    }

    public Ask statuses(Row.Status... statuses) {
        return with(query.collections(), query.namespaces(), query.shards(), query.owners(), Set.of(statuses));
    }

    public Ask limit(int limit) {
        return page(limit, query.after(), query.facets(), query.highlights());
    }

    public Ask after(Cursor cursor) {
        return page(query.limit(), cursor, query.facets(), query.highlights());
    }

    public Ask plain() {
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
        Ask page = this;
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

    private Ask with(
            Set<String> collections,
            Set<String> namespaces,
            Set<String> shards,
            Set<String> owners,
            Set<Row.Status> statuses) {
        return new Ask(new SearchQuery(
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

    private Ask page(int limit, Cursor after, boolean facets, boolean highlights) {
        return new Ask(new SearchQuery(
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
