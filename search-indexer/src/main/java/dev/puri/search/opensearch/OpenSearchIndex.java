package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.RowHash;
import dev.puri.search.index.Cursor;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.EntryDigests;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexSize;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.PageBudget;
import dev.puri.search.index.SearchIndex;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.index.SearchResult;
import dev.puri.search.index.StoredHash;
import dev.puri.search.words.Highlighter;
import dev.puri.search.words.NameCandidates;
import dev.puri.search.words.ParsedQuery;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One index of an OpenSearch cluster. The cluster makes a change durable before it acknowledges the change. A commit
 * only writes the checkpoint, as a document of the same index. So after a crash the index has all changes before its
 * checkpoint, and possibly some later changes. The writer sends the later changes again; their versions make this
 * harmless, see {@link BulkWriter}.
 */
final class OpenSearchIndex implements SearchIndex {
    /** The id of the document with the checkpoint, and the name of its field. This document has no kind. */
    static final String CHECKPOINT = "reached";

    /** Number of entries in one request of {@link #scan}. */
    private static final int SCAN_SIZE = 1_000;

    /**
     * Time that OpenSearch keeps the view of {@link #scan} between two requests. A visitor may need a second for each
     * entry.
     */
    private static final String SCAN_KEEP_ALIVE = "20m";

    /** More than any topic has, so that the aggregation returns every partition. */
    private static final int MAX_PARTITIONS = 10_000;

    private final ClusterClient cluster;
    private final String name;
    private final String writeAlias;
    private final CursorSeal seal;
    private final BulkWriter bulkWriter;
    private volatile boolean isOpen = true;

    OpenSearchIndex(ClusterClient cluster, String name, String writeAlias, CursorSeal seal) {
        this.cluster = cluster;
        this.name = name;
        this.writeAlias = writeAlias;
        this.seal = seal;
        bulkWriter = new BulkWriter(cluster, writeAlias);
    }

    String name() {
        return name;
    }

    boolean isOpen() {
        return isOpen;
    }

    @Override
    public IndexCheckpoint committedCheckpoint() throws IndexUnavailableException {
        requireOpen();
        JsonNode response = cluster.sendWithWriteTimeout("GET", path("_doc/" + CHECKPOINT), null)
                .body();
        // If the index is missing, the response has no field "found".
        if (!response.has("found")) {
            throw missingIndex();
        }
        return response.path("found").asBoolean()
                ? IndexCheckpoint.parse(
                        response.path("_source").path("kept").path(CHECKPOINT).asText())
                : IndexCheckpoint.NONE;
    }

    @Override
    public void apply(List<IndexChange> changes) throws IndexUnavailableException {
        requireOpen();
        bulkWriter.send(changes);
    }

    @Override
    public void refresh() throws IndexUnavailableException {
        requireOpen();
        completeBody(cluster.sendWithWriteTimeout("POST", path("_refresh"), null));
    }

    @Override
    public void commit(IndexCheckpoint checkpoint) throws IndexUnavailableException {
        requireOpen();
        ObjectNode document = ClusterClient.JSON.createObjectNode();
        document.putObject("kept").put(CHECKPOINT, checkpoint.toString());
        foundBody(cluster.sendWithWriteTimeout(
                "PUT", "/" + writeAlias + "/_doc/" + CHECKPOINT + "?require_alias=true", document));
    }

    @Override
    public SearchResult search(SearchQuery query) throws IndexUnavailableException, Cursor.InvalidException {
        requireOpen();
        String text = query.text();
        if (text == null) {
            return fetchPage(query, SearchBody.listSearch(query), null);
        }
        ParsedQuery parsedQuery = ParsedQuery.parse(text);
        Set<String> nameMatchIds = findNameMatchIds(query, NameCandidates.parse(text));
        if (parsedQuery.clauses().isEmpty() && nameMatchIds.isEmpty()) {
            return SearchResult.EMPTY;
        }
        Highlighter highlighter = query.highlights() ? new Highlighter(parsedQuery) : null;
        return fetchPage(query, SearchBody.textSearch(query, parsedQuery, nameMatchIds), highlighter);
    }

    /**
     * Finds the identities with a typed name that pass the filters. Returns one id for each: the id of the document
     * entry if the identity has one, otherwise the id of the identity entry. This needs separate requests, because an
     * OpenSearch query cannot depend on the existence of another document.
     */
    private Set<String> findNameMatchIds(SearchQuery query, NameCandidates names) throws IndexUnavailableException {
        if (names.isEmpty()) {
            return Set.of();
        }
        JsonNode identities =
                sendSearch(SearchBody.nameSearch(query, names)).path("hits").path("hits");
        if (identities.isEmpty() || identities.size() > NameCandidates.MAX_IDENTITIES) {
            return Set.of();
        }
        List<Puri> puris = new ArrayList<>();
        identities.forEach(identity -> puris.add(EntryJson.puri(identity.path("_source"))));
        Set<String> nameMatchIds = new HashSet<>();
        for (JsonNode document : documentsOf(puris, "_source=false")) {
            if (document.path("found").asBoolean()) {
                nameMatchIds.add(document.path("_id").asText());
            }
        }
        for (Puri puri : puris) {
            if (!nameMatchIds.contains(EntryJson.id(EntryKind.DOCUMENT, puri))) {
                nameMatchIds.add(EntryJson.id(EntryKind.IDENTITY, puri));
            }
        }
        return nameMatchIds;
    }

    /**
     * Requests the document entries of identities. The response has an item for each, also for a missing one.
     *
     * @param sourceFilter the parameter that selects the fields of the response
     */
    private JsonNode documentsOf(List<Puri> puris, String sourceFilter) throws IndexUnavailableException {
        ObjectNode body = ClusterClient.JSON.createObjectNode();
        ArrayNode ids = body.putArray("ids");
        puris.forEach(puri -> ids.add(EntryJson.id(EntryKind.DOCUMENT, puri)));
        return foundBody(cluster.sendWithReadTimeout("POST", path("_mget?realtime=false&" + sourceFilter), body))
                .path("docs");
    }

    private SearchResult fetchPage(SearchQuery query, ObjectNode body, @Nullable Highlighter highlighter)
            throws IndexUnavailableException, Cursor.InvalidException {
        Cursor after = query.after();
        if (after != null) {
            body.set("search_after", parseSortValues(seal.open(query, after)));
        }
        JsonNode response = sendSearch(body);
        JsonNode hitNodes = response.path("hits").path("hits");
        List<SearchResult.Hit> fetched = new ArrayList<>();
        for (JsonNode hitNode : hitNodes) {
            if (fetched.size() < query.limit()) {
                fetched.add(toHit(hitNode, query.text() != null, highlighter));
            }
        }
        List<SearchResult.Hit> hits = withinBudget(query.text() == null ? withAttributes(fetched) : fetched);
        JsonNode total = response.path("hits").path("total");
        return new SearchResult(
                hits,
                total.path("value").asLong(),
                total.path("relation").asText().equals("eq"),
                facetCounts(response, "collection"),
                facetCounts(response, "shard"),
                hitNodes.size() > hits.size()
                        ? seal.seal(
                                query,
                                ClusterClient.bytes(
                                        hitNodes.path(hits.size() - 1).path("sort")))
                        : null);
    }

    private static List<SearchResult.Hit> withinBudget(List<SearchResult.Hit> hits) {
        PageBudget budget = new PageBudget();
        return hits.stream().takeWhile(budget::add).toList();
    }

    private static JsonNode parseSortValues(byte[] json) throws Cursor.InvalidException {
        try {
            return ClusterClient.JSON.readTree(json);
        } catch (IOException e) {
            throw new Cursor.InvalidException("this cursor was created by another search engine");
        }
    }

    private static SearchResult.Hit toHit(JsonNode json, boolean hasScore, @Nullable Highlighter highlighter) {
        JsonNode source = json.path("_source");
        Map<String, String> attributes = EntryJson.attributesInDisplayOrder(source);
        return SearchResult.Hit.of(
                EntryJson.puri(source),
                EntryJson.toEntry(source),
                hasScore ? json.path("_score").asDouble() : null,
                attributes,
                highlighter == null ? Map.of() : highlighter.highlight(attributes));
    }

    private static Map<String, Long> facetCounts(JsonNode response, String facet) {
        Map<String, Long> counts = new LinkedHashMap<>();
        for (JsonNode bucket : response.path("aggregations").path(facet).path("buckets")) {
            counts.put(bucket.path("key").asText(), bucket.path("doc_count").asLong());
        }
        return counts;
    }

    /** Adds the attributes of the documents to the hits of a list, which are identities. */
    private List<SearchResult.Hit> withAttributes(List<SearchResult.Hit> hits) throws IndexUnavailableException {
        if (hits.isEmpty()) {
            return hits;
        }
        JsonNode documents = documentsOf(
                hits.stream().map(SearchResult.Hit::puri).toList(),
                "_source_includes=kept," + String.join(",", EntryJson.ATTRIBUTE_FIELDS));
        Map<String, Map<String, String>> attributesById = new HashMap<>();
        for (JsonNode document : documents) {
            attributesById.put(
                    document.path("_id").asText(), EntryJson.attributesInDisplayOrder(document.path("_source")));
        }
        return hits.stream()
                .map(hit -> hit.withAttributes(
                        attributesById.getOrDefault(EntryJson.id(EntryKind.DOCUMENT, hit.puri()), Map.of())))
                .toList();
    }

    @Override
    public @Nullable Entry entry(EntryKind kind, Puri puri) throws IndexUnavailableException {
        requireOpen();
        String id = URLEncoder.encode(EntryJson.id(kind, puri), StandardCharsets.UTF_8);
        JsonNode response = cluster.sendWithReadTimeout("GET", path("_doc/" + id + "?realtime=false"), null)
                .body();
        if (!response.has("found")) {
            throw missingIndex();
        }
        return response.path("found").asBoolean() ? EntryJson.toEntry(response.path("_source")) : null;
    }

    @Override
    public @Nullable Puri findByHandle(Handle handle) throws IndexUnavailableException {
        requireOpen();
        ObjectNode body = ClusterClient.JSON.createObjectNode().put("size", 1);
        ArrayNode filter = body.putObject("query").putObject("bool").putArray("filter");
        filter.addObject().putObject("term").put("kind", EntryKind.IDENTITY.text());
        filter.addObject().putObject("term").put("handle", handle.toString());
        JsonNode hit = sendSearch(body).path("hits").path("hits").path(0);
        return hit.isMissingNode() ? null : EntryJson.puri(hit.path("_source"));
    }

    @Override
    public void forEach(EntryKind kind, BiConsumer<Puri, Entry> consumer) throws IndexUnavailableException {
        ObjectNode body = ClusterClient.JSON.createObjectNode();
        body.putObject("query").putObject("term").put("kind", kind.text());
        scan(body, hit -> {
            JsonNode source = hit.path("_source");
            consumer.accept(EntryJson.puri(source), EntryJson.toEntry(source));
            return true;
        });
    }

    /** Passes all hits of a search to a visitor, until the visitor returns false. */
    private void scan(ObjectNode body, Predicate<JsonNode> visitor) throws IndexUnavailableException {
        requireOpen();
        String pointInTimeId = completeBody(cluster.sendWithReadTimeout(
                        "POST", path("_search/point_in_time?keep_alive=" + SCAN_KEEP_ALIVE), null))
                .path("pit_id")
                .asText();
        try {
            scan(body, pointInTimeId, visitor);
        } finally {
            ObjectNode pointsInTime = ClusterClient.JSON.createObjectNode();
            pointsInTime.putArray("pit_id").add(pointInTimeId);
            cluster.sendWithReadTimeout("DELETE", "/_search/point_in_time", pointsInTime);
        }
    }

    private void scan(ObjectNode body, String pointInTimeId, Predicate<JsonNode> visitor)
            throws IndexUnavailableException {
        body.put("size", SCAN_SIZE).put("track_total_hits", false);
        body.putObject("pit").put("id", pointInTimeId).put("keep_alive", SCAN_KEEP_ALIVE);
        body.putArray("sort").addObject().put("_shard_doc", "asc");
        while (true) {
            JsonNode hits = completeBody(
                            cluster.sendWithReadTimeout("POST", "/_search?allow_partial_search_results=false", body))
                    .path("hits")
                    .path("hits");
            for (JsonNode hit : hits) {
                if (!visitor.test(hit)) {
                    return;
                }
            }
            if (hits.size() < SCAN_SIZE) {
                return;
            }
            body.set("search_after", hits.path(SCAN_SIZE - 1).path("sort"));
        }
    }

    @Override
    public EntryDigests digests() throws IndexUnavailableException {
        requireOpen();
        EntryDigests.Sum digests = new EntryDigests.Sum();
        for (EntryKind kind : EntryKind.values()) {
            ObjectNode body = ClusterClient.JSON.createObjectNode().put("size", 0);
            body.putObject("query").putObject("term").put("kind", kind.text());
            ObjectNode partitions = body.putObject("aggs").putObject("partitions");
            partitions.putObject("terms").put("field", EntryJson.PARTITION).put("size", MAX_PARTITIONS);
            ObjectNode sums = partitions.putObject("aggs");
            EntryJson.HASH_FIELDS.forEach(
                    field -> sums.putObject(field).putObject("sum").put("field", field));
            // The feeder needs the result, so it has the time limit of a batch.
            JsonNode response = completeBody(cluster.sendWithWriteTimeout(
                    "POST", path("_search?allow_partial_search_results=false&request_cache=false"), body));
            for (JsonNode bucket :
                    response.path("aggregations").path("partitions").path("buckets")) {
                digests.add(
                        kind,
                        bucket.path("key").asInt(),
                        new PartitionDigest(
                                bucket.path("doc_count").asLong(),
                                EntryJson.joinHash(field ->
                                        bucket.path(field).path("value").asLong())));
            }
        }
        return digests.toDigests();
    }

    @Override
    public void forEachHash(EntryKind kind, int partition, Predicate<StoredHash> visitor)
            throws IndexUnavailableException {
        ObjectNode body = ClusterClient.JSON.createObjectNode();
        ArrayNode filter = body.putObject("query").putObject("bool").putArray("filter");
        filter.addObject().putObject("term").put("kind", kind.text());
        filter.addObject().putObject("term").put(EntryJson.PARTITION, partition);
        ArrayNode storedFields = body.putArray("docvalue_fields");
        EntryJson.HASH_FIELDS.forEach(storedFields::add);
        scan(body, hit -> visitor.test(storedHash(hit)));
    }

    private static StoredHash storedHash(JsonNode hit) {
        // The doc values, because a change of the source may have changed the hash in it too.
        long stored = EntryJson.joinHash(
                field -> hit.path("fields").path(field).path(0).asLong());
        try {
            JsonNode source = hit.path("_source");
            Puri puri = EntryJson.puri(source);
            return new StoredHash(puri, stored, RowHash.of(puri, EntryJson.toEntry(source)));
        } catch (IllegalArgumentException | DateTimeException e) {
            return StoredHash.unreadable(stored);
        }
    }

    @Override
    public void purge() throws IndexUnavailableException {
        requireOpen();
        new OpenSearchPurge(cluster, this).run();
    }

    @Override
    public IndexSize size() throws IndexUnavailableException {
        requireOpen();
        ObjectNode body = ClusterClient.JSON.createObjectNode().put("size", 0);
        body.putObject("aggs").putObject("kinds").putObject("terms").put("field", "kind");
        Map<String, Long> countByKind = new HashMap<>();
        for (JsonNode bucket :
                sendSearch(body).path("aggregations").path("kinds").path("buckets")) {
            countByKind.put(
                    bucket.path("key").asText(), bucket.path("doc_count").asLong());
        }
        JsonNode stats = foundBody(cluster.sendWithReadTimeout("GET", path("_stats/docs,store"), null))
                .path("_all");
        return new IndexSize(
                countByKind.getOrDefault(EntryKind.IDENTITY.text(), 0L),
                countByKind.getOrDefault(EntryKind.DOCUMENT.text(), 0L),
                stats.path("primaries").path("docs").path("deleted").asLong(),
                stats.path("total").path("store").path("size_in_bytes").asLong());
    }

    private JsonNode sendSearch(ObjectNode body) throws IndexUnavailableException {
        return completeBody(
                cluster.sendWithReadTimeout("POST", path("_search?allow_partial_search_results=false"), body));
    }

    /** Returns the path of a request on this index. */
    String path(String endpoint) {
        return "/" + name + "/" + endpoint;
    }

    /**
     * Returns the body of a response.
     *
     * @throws IndexUnavailableException if not all shards responded, or if the index is missing
     */
    JsonNode completeBody(ClusterClient.Response response) throws IndexUnavailableException {
        JsonNode body = foundBody(response);
        if (body.path("_shards").path("failed").asInt() > 0
                || body.path("timed_out").asBoolean()) {
            throw new IndexUnavailableException("only some shards of the OpenSearch index " + name + " responded");
        }
        return body;
    }

    /**
     * Returns the body of a response.
     *
     * @throws IndexUnavailableException if the index is missing
     */
    private JsonNode foundBody(ClusterClient.Response response) throws IndexUnavailableException {
        if (!response.isFound()) {
            throw missingIndex();
        }
        return response.body();
    }

    private IndexUnavailableException missingIndex() {
        return new IndexUnavailableException("the OpenSearch index " + name + " does not exist any more");
    }

    private void requireOpen() throws IndexUnavailableException {
        if (!isOpen) {
            throw new IndexUnavailableException("the index " + name + " is closed");
        }
    }

    @Override
    public void close() {
        isOpen = false;
    }
}
