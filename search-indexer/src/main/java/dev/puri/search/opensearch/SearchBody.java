package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.search.index.Kind;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.words.Wanted;
import dev.puri.search.words.Weights;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;

/**
 * A search as JSON. What is typed arrives as words, never as OpenSearch's own query language.
 *
 * <pre>
 * all of   each word, the best of brief and long: weight ×   1    the word
 *                                                            1/2  its beginnings
 *                                                            1/4  its slips
 *          each phrase, the same:                 weight ×   1
 * and better, where all words that were typed stand together
 * </pre>
 *
 * So a score depends on document and text alone. OpenSearch's usual ones change with every document that is
 * written, and differ from copy to copy of a shard; then no page could go on where the one before ended.
 */
final class SearchBody {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private SearchBody() {}

    /** Of documents that meet every clause, the best first. */
    static ObjectNode text(SearchQuery query, Wanted wanted) {
        ObjectNode body = JSON.objectNode();
        ObjectNode bool = body.putObject("query").putObject("bool");
        filters(query, Kind.DOCUMENT, bool.putArray("filter"));
        ArrayNode must = bool.putArray("must");
        List<String> words = new ArrayList<>();
        for (Wanted.Clause clause : wanted.clauses()) {
            switch (clause) {
                case Wanted.Word word -> {
                    must.add(bestField(field -> word(field, word)));
                    words.add(word.text());
                }
                case Wanted.Phrase phrase -> must.add(bestField(field -> phrase(field, phrase.words(), Weights.WORD)));
            }
        }
        if (words.size() > 1) {
            bool.putArray("should").add(bestField(field -> phrase(field, words, Weights.TOGETHER)));
        }
        ArrayNode sort = body.putArray("sort");
        sort.addObject().put("_score", "desc");
        sort.addObject().put("puri", "asc");
        return page(query, body);
    }

    /** Of identities by their uuids. */
    static ObjectNode list(SearchQuery query) {
        ObjectNode body = JSON.objectNode();
        filters(query, Kind.IDENTITY, body.putObject("query").putObject("bool").putArray("filter"));
        ArrayNode sort = body.putArray("sort");
        sort.addObject().put("uuid", query.order() == SearchQuery.Order.OLDEST ? "asc" : "desc");
        sort.addObject().put("puri", "asc");
        return page(query, body);
    }

    private static ObjectNode page(SearchQuery query, ObjectNode body) {
        // One more tells whether there is a next page.
        body.put("size", query.limit() + 1);
        body.put("track_total_hits", true);
        if (query.facets()) {
            ObjectNode facets = body.putObject("aggs");
            facet(facets, "collection");
            facet(facets, "shard");
        }
        return body;
    }

    private static void facet(ObjectNode facets, String field) {
        facets.putObject(field)
                .putObject("terms")
                .put("field", field)
                .put("size", SearchQuery.MAX_FACET_VALUES)
                // Asked of each of OpenSearch's shards, so that the sums of those with the most hits are right.
                .put("shard_size", 5 * SearchQuery.MAX_FACET_VALUES);
    }

    private static void filters(SearchQuery query, Kind kind, ArrayNode filters) {
        any(filters, "kind", List.of(EntryJson.name(kind)));
        any(filters, "collection", query.collections());
        any(filters, "namespace", query.namespaces());
        any(filters, "shard", query.shards());
        any(filters, "owner", query.owners());
        any(filters, "status", query.statuses().stream().map(EntryJson::name).toList());
    }

    private static void any(ArrayNode filters, String field, Collection<String> values) {
        if (!values.isEmpty()) {
            ArrayNode terms = filters.addObject().putObject("terms").putArray(field);
            values.stream().sorted().forEach(terms::add);
        }
    }

    /** The better of both texts, each times its weight. */
    private static ObjectNode bestField(Function<String, ObjectNode> inField) {
        ObjectNode best = JSON.objectNode();
        ArrayNode queries = best.putObject("dis_max").putArray("queries");
        for (String field : EntryJson.TEXTS) {
            ObjectNode weighed = queries.addObject().putObject("function_score");
            weighed.put("boost_mode", "multiply").set("query", inField.apply(field + ".value"));
            weighed.putObject("field_value_factor")
                    .put("field", field + EntryJson.WEIGHT)
                    .put("missing", 1);
        }
        return best;
    }

    private static ObjectNode word(String field, Wanted.Word word) {
        ObjectNode best = JSON.objectNode();
        ArrayNode ways = best.putObject("dis_max").putArray("queries");
        ways.add(constant(value("term", field, word.text()), Weights.WORD));
        if (word.open()) {
            ways.add(constant(value("prefix", field, word.text()), Weights.BEGINNING));
        }
        if (word.slip()) {
            ObjectNode slip = JSON.objectNode();
            slip.putObject("fuzzy")
                    .putObject(field)
                    .put("value", word.text())
                    .put("fuzziness", 1)
                    .put("transpositions", true)
                    // All that are a slip away, not only the first fifty of them.
                    .put("rewrite", "constant_score");
            ways.add(constant(slip, Weights.SLIP));
        }
        return best;
    }

    private static ObjectNode value(String query, String field, String text) {
        ObjectNode json = JSON.objectNode();
        json.putObject(query).putObject(field).put("value", text);
        return json;
    }

    private static ObjectNode phrase(String field, List<String> words, float score) {
        ObjectNode json = JSON.objectNode();
        ObjectNode near = json.putObject("span_near").put("slop", 0).put("in_order", true);
        ArrayNode clauses = near.putArray("clauses");
        words.forEach(word -> clauses.add(value("span_term", field, word)));
        return constant(json, score);
    }

    private static ObjectNode constant(ObjectNode filter, float score) {
        ObjectNode json = JSON.objectNode();
        json.putObject("constant_score").put("boost", score).set("filter", filter);
        return json;
    }
}
