package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.words.IndexedText;
import dev.puri.search.words.NameCandidates;
import dev.puri.search.words.ParsedQuery;
import dev.puri.search.words.QueryBuilder;
import dev.puri.search.words.RankedQueries;
import dev.puri.search.words.TypoPatterns;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Builds the JSON bodies of search requests. Typed text is the value of a term, prefix, fuzzy, regexp or span query. It
 * is never parsed as OpenSearch's query language.
 *
 * <p>A score is a sum of constants and of numbers in the document, so it depends only on the document and the query.
 * OpenSearch's default scores change with every write and differ between the replicas of a shard, so a cursor could not
 * contain such a score.
 */
final class SearchBody implements QueryBuilder<ObjectNode> {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final SearchBody QUERY_BUILDER = new SearchBody();

    private static final List<Integer> FIELD_WEIGHTS = IntStream.rangeClosed(
                    SearchedAttributes.MIN_WEIGHT, SearchedAttributes.MAX_WEIGHT)
            .boxed()
            .toList();

    /** A words field contains objects, one for each attribute; this inner field has the text. */
    private static final String VALUE_SUFFIX = ".value";

    /** Maximum size of a regular expression's automaton. The longest text needs some thousand states. */
    private static final int MAX_REGEXP_STATES = 200_000;

    private SearchBody() {}

    /**
     * Returns the body of a text search: the entries that match the parsed query or whose name the user typed, best
     * score first.
     *
     * @param nameMatchIds ids of the entries whose name the user typed
     */
    static ObjectNode textSearch(SearchQuery query, ParsedQuery parsedQuery, Set<String> nameMatchIds) {
        ObjectNode body = JSON.objectNode();
        ObjectNode bool = body.putObject("query").putObject("bool");
        addFilters(query, null, bool.putArray("filter"));
        bool.putArray("should")
                .addAll(RankedQueries.<ObjectNode>alternatives(
                        parsedQuery, nameMatchIds.isEmpty() ? null : ids(nameMatchIds), QUERY_BUILDER));
        bool.put("minimum_should_match", 1);
        ArrayNode sort = body.putArray("sort");
        sort.addObject().put("_score", "desc");
        sort.addObject().putObject("length").put("order", "asc").put("missing", IndexedText.MAX_LENGTH);
        sort.addObject().put("puri", "asc");
        return addPageOptions(query, body);
    }

    /**
     * Returns the body of a search for the identities with a typed name. The response has at most
     * {@link NameCandidates#MAX_IDENTITIES} hits and one more, which shows that there are too many.
     */
    static ObjectNode nameSearch(SearchQuery query, NameCandidates names) {
        ObjectNode body = JSON.objectNode();
        ObjectNode bool = body.putObject("query").putObject("bool");
        addFilters(query, EntryKind.IDENTITY, bool.putArray("filter"));
        bool.put("minimum_should_match", 1);
        ArrayNode anyName = bool.putArray("should");
        if (names.puri() != null) {
            anyName.add(valueQuery("term", "puri", names.puri().toString()));
        }
        if (names.handle() != null) {
            anyName.add(valueQuery("term", "handle", names.handle().toString()));
        }
        names.identifiers().forEach(identifier -> anyName.add(valueQuery("term", "identifier", identifier)));
        body.put("size", NameCandidates.MAX_IDENTITIES + 1).put("track_total_hits", false);
        body.putArray("_source").add("puri");
        body.putArray("sort").add("_doc");
        return body;
    }

    /** Returns the body of a list of identities in the order of their uuids. */
    static ObjectNode listSearch(SearchQuery query) {
        ObjectNode body = JSON.objectNode();
        addFilters(
                query,
                EntryKind.IDENTITY,
                body.putObject("query").putObject("bool").putArray("filter"));
        ArrayNode sort = body.putArray("sort");
        sort.addObject().put("uuid", query.order() == SearchQuery.Order.OLDEST ? "asc" : "desc");
        sort.addObject().put("puri", "asc");
        return addPageOptions(query, body);
    }

    private static ObjectNode addPageOptions(SearchQuery query, ObjectNode body) {
        // One more hit shows that there is a next page.
        body.put("size", query.limit() + 1);
        body.put("track_total_hits", true);
        if (query.facets()) {
            ObjectNode facets = body.putObject("aggs");
            addFacet(facets, "collection");
            addFacet(facets, "shard");
        }
        return body;
    }

    private static void addFacet(ObjectNode facets, String field) {
        facets.putObject(field)
                .putObject("terms")
                .put("field", field)
                .put("size", SearchQuery.MAX_FACET_VALUES)
                // A value with many hits in total may have few in one shard, so each shard returns more values.
                .put("shard_size", 5 * SearchQuery.MAX_FACET_VALUES);
    }

    private static void addFilters(SearchQuery query, @Nullable EntryKind kind, ArrayNode filters) {
        addFilter(filters, "kind", kind == null ? List.of() : List.of(kind.text()));
        addFilter(filters, "collection", query.collections());
        addFilter(filters, "namespace", query.namespaces());
        addFilter(filters, "shard", query.shards());
        addFilter(filters, "owner", query.owners());
        addFilter(
                filters,
                "status",
                query.statuses().stream().map(EntryJson::fieldValue).toList());
    }

    private static void addFilter(ArrayNode filters, String field, Collection<String> values) {
        if (!values.isEmpty()) {
            ArrayNode terms = filters.addObject().putObject("terms").putArray(field);
            values.stream().sorted().forEach(terms::add);
        }
    }

    private static ObjectNode ids(Set<String> ids) {
        ObjectNode json = JSON.objectNode();
        ArrayNode values = json.putObject("ids").putArray("values");
        ids.stream().sorted().forEach(values::add);
        return json;
    }

    @Override
    public List<Integer> fieldWeights() {
        return FIELD_WEIGHTS;
    }

    @Override
    public String wordsField(int weight) {
        return EntryJson.wordsField(weight) + VALUE_SUFFIX;
    }

    @Override
    public ObjectNode term(String field, String text) {
        return valueQuery("term", field, text);
    }

    @Override
    public ObjectNode anyTerm(String field, Collection<String> texts) {
        ObjectNode json = JSON.objectNode();
        ArrayNode values = json.putObject("terms").putArray(field);
        texts.forEach(values::add);
        return json;
    }

    @Override
    public ObjectNode prefix(String field, String text) {
        return valueQuery("prefix", field, text);
    }

    @Override
    public ObjectNode fuzzy(String field, String text) {
        ObjectNode json = JSON.objectNode();
        json.putObject("fuzzy")
                .putObject(field)
                .put("value", text)
                .put("fuzziness", 1)
                .put("transpositions", true)
                // OpenSearch's default uses only the first 50 matching terms.
                .put("rewrite", "constant_score");
        return json;
    }

    @Override
    public ObjectNode fuzzyKeepingDigits(String field, String text) {
        ObjectNode json = JSON.objectNode();
        json.putObject("regexp")
                .putObject(field)
                .put("value", TypoPatterns.regex(text))
                .put("flags", "NONE")
                .put("max_determinized_states", MAX_REGEXP_STATES)
                .put("rewrite", "constant_score");
        return json;
    }

    @Override
    public ObjectNode phrase(String field, List<String> words, int slop) {
        ObjectNode json = JSON.objectNode();
        ObjectNode spanNear = json.putObject("span_near").put("slop", slop).put("in_order", slop == 0);
        ArrayNode clauses = spanNear.putArray("clauses");
        words.forEach(word -> clauses.add(valueQuery("span_term", field, word)));
        return json;
    }

    @Override
    public ObjectNode constantScore(ObjectNode query, float score) {
        ObjectNode json = JSON.objectNode();
        json.putObject("constant_score").put("boost", score).set("filter", query);
        return json;
    }

    @Override
    public ObjectNode addFieldScore(ObjectNode query, int weight) {
        ObjectNode json = JSON.objectNode();
        ObjectNode functionScore = json.putObject("function_score");
        functionScore.put("boost_mode", "sum").set("query", query);
        functionScore
                .putObject("field_value_factor")
                .put("field", EntryJson.scoreField(weight))
                .put("missing", weight);
        return json;
    }

    @Override
    public ObjectNode disMax(List<ObjectNode> queries) {
        ObjectNode json = JSON.objectNode();
        json.putObject("dis_max").putArray("queries").addAll(queries);
        return json;
    }

    @Override
    public ObjectNode bool(List<ObjectNode> required, List<ObjectNode> filters, List<ObjectNode> optional) {
        ObjectNode json = JSON.objectNode();
        ObjectNode bool = json.putObject("bool");
        bool.putArray("must").addAll(required);
        bool.putArray("filter").addAll(filters);
        bool.putArray("should").addAll(optional);
        return json;
    }

    /** Returns a query of a type such as "term", which compares a field with a text. */
    private static ObjectNode valueQuery(String type, String field, String text) {
        ObjectNode json = JSON.objectNode();
        json.putObject(type).putObject(field).put("value", text);
        return json;
    }
}
