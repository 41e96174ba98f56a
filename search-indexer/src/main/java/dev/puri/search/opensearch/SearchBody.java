package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.words.IndexedText;
import dev.puri.search.words.NameCandidates;
import dev.puri.search.words.TypoPattern;
import dev.puri.search.words.ParsedQuery;
import dev.puri.search.words.ScoreModel;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A search as JSON. What is typed arrives as words, never as OpenSearch's own query language; {@link ScoreModel} says
 * what each part adds.
 *
 * <pre>
 * any of   all of   each word: the best of the fields, by weight   the word, its beginnings, its slips
 *                   each phrase: the same
 *                   each word with signs, in a field of its own
 *                   and better, where all words stand together; and by tiers
 *          a title that is as a whole a slip away
 *          an object of this name
 * </pre>
 *
 * So a score depends on document and text alone. OpenSearch's usual ones change with every document that is
 * written, and differ from copy to copy of a shard; then no page could go on where the one before ended.
 */
final class SearchBody {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    /** Behind a field of attributes: where their text is. */
    private static final String VALUE = ".value";

    /** An expression of the longest word has some thousand states. */
    private static final int MAX_REGEXP_WORK = 200_000;

    private SearchBody() {}

    /**
     * Of documents that meet every clause and of entries that are named, the best first.
     *
     * @param named ids of the latter
     */
    static ObjectNode text(SearchQuery query, ParsedQuery wanted, Set<String> named) {
        ObjectNode body = JSON.objectNode();
        ObjectNode bool = body.putObject("query").putObject("bool");
        filters(query, null, bool.putArray("filter"));
        ArrayNode should = bool.putArray("should");
        bool.put("minimum_should_match", 1);
        ScoreModel weights = ScoreModel.of(wanted);
        if (!wanted.clauses().isEmpty()) {
            should.add(all(wanted, weights));
        }
        String title = wanted.titleWithSlip();
        if (title != null) {
            should.add(constant(regexp("title", TypoPattern.expression(title)), ScoreModel.WHOLE_SLIP));
        }
        if (!named.isEmpty()) {
            ObjectNode ids = JSON.objectNode();
            ArrayNode values = ids.putObject("ids").putArray("values");
            named.stream().sorted().forEach(values::add);
            should.add(constant(ids, weights.tier(ScoreModel.NAMED)));
        }
        ArrayNode sort = body.putArray("sort");
        sort.addObject().put("_score", "desc");
        sort.addObject().putObject("length").put("order", "asc").put("missing", IndexedText.MAX_LENGTH);
        sort.addObject().put("puri", "asc");
        return page(query, body);
    }

    private static ObjectNode all(ParsedQuery wanted, ScoreModel weights) {
        ObjectNode json = JSON.objectNode();
        ObjectNode bool = json.putObject("bool");
        ArrayNode must = bool.putArray("must");
        ArrayNode filter = bool.putArray("filter");
        for (ParsedQuery.Clause clause : wanted.clauses()) {
            switch (clause) {
                case ParsedQuery.WordClause word -> must.add(bestField(field -> word(field, word, weights)));
                case ParsedQuery.PhraseClause phrase ->
                    must.add(bestField(field -> constant(phrase(field, phrase.words(), 0), weights.word())));
                case ParsedQuery.SymbolClause signed ->
                    filter.add(value(signed.open() ? "prefix" : "term", "signed", signed.text()));
            }
        }
        List<String> words = wanted.words();
        ArrayNode should = bool.putArray("should");
        ObjectNode tiers = JSON.objectNode();
        ArrayNode ways = tiers.putObject("dis_max").putArray("queries");
        if (words.size() > 1) {
            ObjectNode inOrder = should.addObject();
            ArrayNode places = inOrder.putObject("dis_max").putArray("queries");
            for (int weight = SearchedAttributes.MIN_BOOST; weight <= SearchedAttributes.MAX_BOOST; weight++) {
                String field = EntryJson.words(weight) + VALUE;
                places.add(constant(phrase(field, words, 0), weight * ScoreModel.IN_ORDER));
                ways.add(constant(phrase(field, words, ScoreModel.SLOP), weights.tier(ScoreModel.TOGETHER)));
            }
            ObjectNode parts = JSON.objectNode();
            ArrayNode titles = parts.putObject("terms").putArray("title");
            wanted.parts().forEach(titles::add);
            ways.add(constant(parts, weights.tier(ScoreModel.TOGETHER)));
        }
        String beginning = wanted.beginning();
        if (beginning != null) {
            ways.add(constant(value("prefix", "whole", beginning), weights.tier(ScoreModel.BEGINS)));
        }
        String typedOn = wanted.typedOn();
        if (typedOn != null) {
            should.add(constant(value("prefix", "whole", typedOn), ScoreModel.TYPED_ON));
        }
        ways.add(constant(value("term", "whole", wanted.whole()), weights.tier(ScoreModel.EQUAL)));
        should.add(tiers);
        return json;
    }

    /** Of identities that have a name, one more than are of use. */
    static ObjectNode named(SearchQuery query, NameCandidates names) {
        ObjectNode body = JSON.objectNode();
        ObjectNode bool = body.putObject("query").putObject("bool");
        filters(query, EntryKind.IDENTITY, bool.putArray("filter"));
        bool.put("minimum_should_match", 1);
        ArrayNode any = bool.putArray("should");
        if (names.puri() != null) {
            any.add(value("term", "puri", names.puri().toString()));
        }
        if (names.handle() != null) {
            any.add(value("term", "handle", names.handle().toString()));
        }
        names.identifiers().forEach(identifier -> any.add(value("term", "identifier", identifier)));
        body.put("size", NameCandidates.MAX_OBJECTS + 1).put("track_total_hits", false);
        body.putArray("_source").add("puri");
        body.putArray("sort").add("_doc");
        return body;
    }

    /** Of identities by their uuids. */
    static ObjectNode list(SearchQuery query) {
        ObjectNode body = JSON.objectNode();
        filters(query, EntryKind.IDENTITY, body.putObject("query").putObject("bool").putArray("filter"));
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

    private static void filters(SearchQuery query, @Nullable EntryKind kind, ArrayNode filters) {
        any(filters, "kind", kind == null ? List.of() : List.of(EntryJson.name(kind)));
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

    /** The best of the fields, each with what a word in it adds. */
    private static ObjectNode bestField(Function<String, ObjectNode> inField) {
        ObjectNode best = JSON.objectNode();
        ArrayNode queries = best.putObject("dis_max").putArray("queries");
        for (int weight = SearchedAttributes.MIN_BOOST; weight <= SearchedAttributes.MAX_BOOST; weight++) {
            ObjectNode weighed = queries.addObject().putObject("function_score");
            weighed.put("boost_mode", "sum").set("query", inField.apply(EntryJson.words(weight) + VALUE));
            weighed.putObject("field_value_factor")
                    .put("field", EntryJson.place(weight))
                    .put("missing", weight);
        }
        return best;
    }

    private static ObjectNode word(String field, ParsedQuery.WordClause word, ScoreModel weights) {
        ObjectNode best = JSON.objectNode();
        ArrayNode ways = best.putObject("dis_max").putArray("queries");
        ways.add(constant(value("term", field, word.text()), weights.word()));
        if (word.open()) {
            ways.add(constant(value("prefix", field, word.text()), weights.beginning()));
        }
        if (word.slip()) {
            ways.add(constant(slips(field, word), 0));
        }
        return best;
    }

    private static ObjectNode slips(String field, ParsedQuery.WordClause word) {
        if (word.hasDigits()) {
            return regexp(field, TypoPattern.expression(word.text()));
        }
        ObjectNode slip = JSON.objectNode();
        slip.putObject("fuzzy")
                .putObject(field)
                .put("value", word.text())
                .put("fuzziness", 1)
                .put("transpositions", true)
                // All that are a slip away, not only the first fifty of them.
                .put("rewrite", "constant_score");
        return slip;
    }

    private static ObjectNode regexp(String field, String expression) {
        ObjectNode json = JSON.objectNode();
        json.putObject("regexp")
                .putObject(field)
                .put("value", expression)
                .put("flags", "NONE")
                .put("max_determinized_states", MAX_REGEXP_WORK)
                .put("rewrite", "constant_score");
        return json;
    }

    private static ObjectNode value(String query, String field, String text) {
        ObjectNode json = JSON.objectNode();
        json.putObject(query).putObject(field).put("value", text);
        return json;
    }

    /**
     * @param slop 0 for words one after the other; otherwise in any order, with so many others between them
     */
    private static ObjectNode phrase(String field, List<String> words, int slop) {
        ObjectNode json = JSON.objectNode();
        ObjectNode near = json.putObject("span_near").put("slop", slop).put("in_order", slop == 0);
        ArrayNode clauses = near.putArray("clauses");
        words.forEach(word -> clauses.add(value("span_term", field, word)));
        return json;
    }

    private static ObjectNode constant(ObjectNode filter, float score) {
        ObjectNode json = JSON.objectNode();
        json.putObject("constant_score").put("boost", score).set("filter", filter);
        return json;
    }
}
