package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.Cursor;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.Entry;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexSize;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.PageBudget;
import dev.puri.search.index.SearchIndex;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.index.SearchResult;
import dev.puri.search.words.Highlighter;
import dev.puri.search.words.NameCandidates;
import dev.puri.search.words.ParsedQuery;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One index of an OpenSearch cluster. The cluster makes each change durable at once; a commit only writes the
 * checkpoint, as a document of the same index. After a crash the index has all changes before its checkpoint, and
 * repeated changes have no effect because of their versions.
 */
final class OpenSearchIndex implements SearchIndex {
    /** The id and the field of the document with the checkpoint. It has no kind. */
    static final String CHECKPOINT = "reached";

    /** Time limit for replicas to receive the operations that a purge waits for. */
    private static final Duration REPLICA_TIMEOUT = Duration.ofMinutes(10);

    /** Time limit for the merge of a purge. */
    private static final Duration MERGE_TIMEOUT = Duration.ofHours(2);

    private static final int SCAN_SIZE = 1_000;
    private static final String SCAN_KEEP_ALIVE = "5m";

    private final ClusterClient cluster;
    private final String name;
    private final String writeAlias;
    private final CursorSeal seal;
    private final BulkWriter bulkWriter;
    private volatile boolean open = true;

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
        return open;
    }

    @Override
    public IndexCheckpoint committed() throws IndexUnavailableException {
        requireOpen();
        JsonNode found = cluster.write("GET", path("_doc/" + CHECKPOINT), null).body();
        if (!found.has("found")) {
            throw missing();
        }
        return found.path("found").asBoolean()
                ? IndexCheckpoint.parse(
                        found.path("_source").path("kept").path(CHECKPOINT).asText())
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
        complete(cluster.write("POST", path("_refresh"), null));
    }

    @Override
    public void commit(IndexCheckpoint checkpoint) throws IndexUnavailableException {
        requireOpen();
        ObjectNode entry = ClusterClient.JSON.createObjectNode();
        entry.putObject("kept").put(CHECKPOINT, checkpoint.toString());
        found(cluster.write("PUT", "/" + writeAlias + "/_doc/" + CHECKPOINT + "?require_alias=true", entry));
    }

    @Override
    public SearchResult search(SearchQuery query) throws IndexUnavailableException, Cursor.InvalidException {
        requireOpen();
        String text = query.text();
        if (text == null) {
            return page(query, SearchBody.list(query), null);
        }
        ParsedQuery parsed = ParsedQuery.parse(text);
        Set<String> nameMatchIds = nameMatchIds(query, NameCandidates.parse(text));
        if (parsed.clauses().isEmpty() && nameMatchIds.isEmpty()) {
            return SearchResult.EMPTY;
        }
        return page(
                query, SearchBody.text(query, parsed, nameMatchIds), query.highlights() ? new Highlighter(parsed) : null);
    }

    /**
     * Returns the ids of the entries that have a typed name and pass the filters: the document's id if the identity has
     * a document, otherwise the identity's. This needs requests of its own, because an OpenSearch query cannot depend
     * on the existence of another document.
     */
    private Set<String> nameMatchIds(SearchQuery query, NameCandidates names) throws IndexUnavailableException {
        if (names.isEmpty()) {
            return Set.of();
        }
        JsonNode found = search(SearchBody.named(query, names)).path("hits").path("hits");
        if (found.isEmpty() || found.size() > NameCandidates.MAX_IDENTITIES) {
            return Set.of();
        }
        ObjectNode body = ClusterClient.JSON.createObjectNode();
        ArrayNode ids = body.putArray("ids");
        for (JsonNode each : found) {
            ids.add(EntryJson.id(EntryKind.DOCUMENT, EntryJson.puri(each.path("_source"))));
        }
        Set<String> nameMatchIds = new HashSet<>();
        for (JsonNode document : found(cluster.read("POST", path("_mget?realtime=false&_source=false"), body))
                .path("docs")) {
            if (document.path("found").asBoolean()) {
                nameMatchIds.add(document.path("_id").asText());
            }
        }
        for (JsonNode each : found) {
            Puri puri = EntryJson.puri(each.path("_source"));
            if (!nameMatchIds.contains(EntryJson.id(EntryKind.DOCUMENT, puri))) {
                nameMatchIds.add(EntryJson.id(EntryKind.IDENTITY, puri));
            }
        }
        return nameMatchIds;
    }

    private SearchResult page(SearchQuery query, ObjectNode body, @Nullable Highlighter highlighter)
            throws IndexUnavailableException, Cursor.InvalidException {
        Cursor after = query.after();
        if (after != null) {
            body.set("search_after", sortValues(seal.open(query, after)));
        }
        JsonNode response = search(body);
        JsonNode found = response.path("hits").path("hits");
        List<SearchResult.Hit> fetched = new ArrayList<>();
        for (JsonNode each : found) {
            if (fetched.size() < query.limit()) {
                fetched.add(hit(each, query.text() != null, highlighter));
            }
        }
        List<SearchResult.Hit> hits = withinBudget(query.text() == null ? withAttributes(fetched) : fetched);
        JsonNode total = response.path("hits").path("total");
        return new SearchResult(
                hits,
                total.path("value").asLong(),
                total.path("relation").asText().equals("eq"),
                counts(response, "collection"),
                counts(response, "shard"),
                found.size() > hits.size()
                        ? seal.seal(
                                query,
                                ClusterClient.bytes(found.path(hits.size() - 1).path("sort")))
                        : null);
    }

    private static List<SearchResult.Hit> withinBudget(List<SearchResult.Hit> hits) {
        PageBudget budget = new PageBudget();
        return hits.stream().takeWhile(budget::add).toList();
    }

    private static JsonNode sortValues(byte[] json) throws Cursor.InvalidException {
        try {
            return ClusterClient.JSON.readTree(json);
        } catch (IOException e) {
            throw new Cursor.InvalidException("this cursor was made by another engine");
        }
    }

    private static SearchResult.Hit hit(JsonNode json, boolean hasScore, @Nullable Highlighter highlighter) {
        JsonNode source = json.path("_source");
        Map<String, String> attributes = EntryJson.attributesInDisplayOrder(source);
        return SearchResult.Hit.of(
                EntryJson.puri(source),
                EntryJson.read(source),
                hasScore ? json.path("_score").asDouble() : null,
                attributes,
                highlighter == null ? Map.of() : highlighter.highlight(attributes));
    }

    private static Map<String, Long> counts(JsonNode response, String facet) {
        Map<String, Long> counts = new LinkedHashMap<>();
        for (JsonNode bucket : response.path("aggregations").path(facet).path("buckets")) {
            counts.put(bucket.path("key").asText(), bucket.path("doc_count").asLong());
        }
        return counts;
    }

    /** Adds the attributes of documents to the identities of a page of a list. */
    private List<SearchResult.Hit> withAttributes(List<SearchResult.Hit> hits) throws IndexUnavailableException {
        if (hits.isEmpty()) {
            return hits;
        }
        ObjectNode body = ClusterClient.JSON.createObjectNode();
        ArrayNode ids = body.putArray("ids");
        hits.forEach(hit -> ids.add(EntryJson.id(EntryKind.DOCUMENT, hit.puri())));
        JsonNode response = found(cluster.read(
                "POST",
                path("_mget?realtime=false&_source_includes=kept," + String.join(",", EntryJson.ATTRIBUTE_FIELDS)),
                body));
        Map<String, Map<String, String>> attributes = new HashMap<>();
        for (JsonNode each : response.path("docs")) {
            attributes.put(each.path("_id").asText(), EntryJson.attributesInDisplayOrder(each.path("_source")));
        }
        return hits.stream()
                .map(hit -> hit.withAttributes(
                        attributes.getOrDefault(EntryJson.id(EntryKind.DOCUMENT, hit.puri()), Map.of())))
                .toList();
    }

    @Override
    public @Nullable Entry entry(EntryKind kind, Puri puri) throws IndexUnavailableException {
        requireOpen();
        String id = URLEncoder.encode(EntryJson.id(kind, puri), StandardCharsets.UTF_8);
        JsonNode response = cluster.read("GET", path("_doc/" + id + "?realtime=false"), null)
                .body();
        if (!response.has("found")) {
            throw missing();
        }
        return response.path("found").asBoolean() ? EntryJson.read(response.path("_source")) : null;
    }

    @Override
    public @Nullable Puri findByHandle(Handle handle) throws IndexUnavailableException {
        requireOpen();
        ObjectNode body = ClusterClient.JSON.createObjectNode().put("size", 1);
        ArrayNode filter = body.putObject("query").putObject("bool").putArray("filter");
        filter.addObject().putObject("term").put("kind", EntryJson.name(EntryKind.IDENTITY));
        filter.addObject().putObject("term").put("handle", handle.toString());
        JsonNode hit = search(body).path("hits").path("hits").path(0);
        return hit.isMissingNode() ? null : EntryJson.puri(hit.path("_source"));
    }

    @Override
    public void forEach(EntryKind kind, BiConsumer<Puri, Entry> consumer) throws IndexUnavailableException {
        requireOpen();
        String pointInTime = complete(
                        cluster.read("POST", path("_search/point_in_time?keep_alive=" + SCAN_KEEP_ALIVE), null))
                .path("pit_id")
                .asText();
        try {
            scan(kind, pointInTime, consumer);
        } finally {
            ObjectNode body = ClusterClient.JSON.createObjectNode();
            body.putArray("pit_id").add(pointInTime);
            cluster.read("DELETE", "/_search/point_in_time", body);
        }
    }

    private void scan(EntryKind kind, String pointInTime, BiConsumer<Puri, Entry> consumer)
            throws IndexUnavailableException {
        ObjectNode body =
                ClusterClient.JSON.createObjectNode().put("size", SCAN_SIZE).put("track_total_hits", false);
        body.putObject("query").putObject("term").put("kind", EntryJson.name(kind));
        body.putObject("pit").put("id", pointInTime).put("keep_alive", SCAN_KEEP_ALIVE);
        body.putArray("sort").addObject().put("_shard_doc", "asc");
        while (true) {
            JsonNode hits = complete(cluster.read("POST", "/_search?allow_partial_search_results=false", body))
                    .path("hits")
                    .path("hits");
            for (JsonNode hit : hits) {
                JsonNode source = hit.path("_source");
                consumer.accept(EntryJson.puri(source), EntryJson.read(source));
            }
            if (hits.size() < SCAN_SIZE) {
                return;
            }
            body.set("search_after", hits.path(SCAN_SIZE - 1).path("sort"));
        }
    }

    @Override
    public void purge() throws IndexUnavailableException {
        requireOpen();
        Map<String, Long> purged = lastOperations();
        flush();
        // OpenSearch retains deleted and replaced documents until all replicas have the operations. It exchanges their
        // progress every 30 seconds.
        RetryState retries = new RetryState(REPLICA_TIMEOUT, Integer.MAX_VALUE);
        while (isRetained(purged)) {
            retries.backOff(() -> "OpenSearch retains deleted documents of " + name + " for replicas that lag");
        }
        complete(cluster.send(
                "POST", path("_forcemerge?only_expunge_deletes=true"), new byte[0], new RetryState(MERGE_TIMEOUT, 1)));
        // The next commit removes the files of the previous one and the transaction log; the refresh releases the
        // readers' files.
        flush();
        refresh();
    }

    private void flush() throws IndexUnavailableException {
        complete(cluster.write("POST", path("_flush?force=true&wait_if_ongoing=true"), null));
    }

    /** Returns the sequence number of the last operation of each shard. */
    private Map<String, Long> lastOperations() throws IndexUnavailableException {
        Map<String, Long> last = new HashMap<>();
        forEachReplica((shard, replica) ->
                last.merge(shard, replica.path("seq_no").path("max_seq_no").asLong(-1), Math::max));
        return last;
    }

    private boolean isRetained(Map<String, Long> operations) throws IndexUnavailableException {
        boolean[] isRetained = {false};
        forEachReplica((shard, replica) -> {
            for (JsonNode lease : replica.path("retention_leases").path("leases")) {
                isRetained[0] |= lease.path("retaining_seq_no").asLong() <= operations.getOrDefault(shard, -1L);
            }
        });
        return isRetained[0];
    }

    private void forEachReplica(BiConsumer<String, JsonNode> consumer) throws IndexUnavailableException {
        JsonNode shards = complete(cluster.read("GET", path("_stats?level=shards"), null))
                .path("indices")
                .path(name)
                .path("shards");
        shards.properties()
                .forEach(shard -> shard.getValue().forEach(replica -> consumer.accept(shard.getKey(), replica)));
    }

    @Override
    public IndexSize size() throws IndexUnavailableException {
        requireOpen();
        ObjectNode body = ClusterClient.JSON.createObjectNode().put("size", 0);
        body.putObject("aggs").putObject("kinds").putObject("terms").put("field", "kind");
        Map<String, Long> kinds = new HashMap<>();
        for (JsonNode bucket : search(body).path("aggregations").path("kinds").path("buckets")) {
            kinds.put(bucket.path("key").asText(), bucket.path("doc_count").asLong());
        }
        JsonNode all =
                found(cluster.read("GET", path("_stats/docs,store"), null)).path("_all");
        return new IndexSize(
                kinds.getOrDefault(EntryJson.name(EntryKind.IDENTITY), 0L),
                kinds.getOrDefault(EntryJson.name(EntryKind.DOCUMENT), 0L),
                all.path("primaries").path("docs").path("deleted").asLong(),
                all.path("total").path("store").path("size_in_bytes").asLong());
    }

    private JsonNode search(ObjectNode body) throws IndexUnavailableException {
        return complete(cluster.read("POST", path("_search?allow_partial_search_results=false"), body));
    }

    private String path(String rest) {
        return "/" + name + "/" + rest;
    }

    /** Returns the body of a response. A response of some shards only is a failure. */
    private JsonNode complete(ClusterClient.Response response) throws IndexUnavailableException {
        JsonNode body = found(response);
        if (body.path("_shards").path("failed").asInt() > 0
                || body.path("timed_out").asBoolean()) {
            throw new IndexUnavailableException("only some shards of the OpenSearch index " + name + " answered");
        }
        return body;
    }

    private JsonNode found(ClusterClient.Response response) throws IndexUnavailableException {
        if (!response.found()) {
            throw missing();
        }
        return response.body();
    }

    private IndexUnavailableException missing() {
        return new IndexUnavailableException("OpenSearch does not have the index " + name + " any more");
    }

    private void requireOpen() throws IndexUnavailableException {
        if (!open) {
            throw new IndexUnavailableException("the index " + name + " is closed");
        }
    }

    @Override
    public void close() {
        open = false;
    }
}
