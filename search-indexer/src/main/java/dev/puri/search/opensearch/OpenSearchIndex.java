package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.Cursor;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.Entry;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexSize;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.PageBudget;
import dev.puri.search.index.IndexCheckpoint;
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
 * One index of an OpenSearch cluster. What was taken is kept by the cluster at once; a commit writes only how
 * far that goes, into an entry of the same index. So whatever the end, the log is read again from a place before
 * which nothing is missing, and what comes twice changes nothing by its version.
 */
final class OpenSearchIndex implements SearchIndex {
    /** The entry that tells how far the index goes; no kind's. */
    static final String REACHED = "reached";

    /** How long copies of shards may take to catch up with what is purged. */
    private static final Duration PURGE_WAIT = Duration.ofMinutes(10);

    /** How long OpenSearch may rewrite files. */
    private static final Duration PURGE_MERGE = Duration.ofHours(2);

    private static final int SCAN_SIZE = 1_000;
    private static final String SCAN_KEEP_ALIVE = "5m";

    private final ClusterClient cluster;
    private final String name;
    private final String writeAlias;
    private final CursorSeal seal;
    private final BulkWriter bulk;
    private volatile boolean open = true;

    OpenSearchIndex(ClusterClient cluster, String name, String writeAlias, CursorSeal seal) {
        this.cluster = cluster;
        this.name = name;
        this.writeAlias = writeAlias;
        this.seal = seal;
        bulk = new BulkWriter(cluster, writeAlias);
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
        JsonNode found = cluster.write("GET", path("_doc/" + REACHED), null).body();
        if (!found.has("found")) {
            throw gone();
        }
        return found.path("found").asBoolean()
                ? IndexCheckpoint.parse(found.path("_source").path("kept").path(REACHED).asText())
                : IndexCheckpoint.NONE;
    }

    @Override
    public void apply(List<IndexChange> changes) throws IndexUnavailableException {
        requireOpen();
        bulk.send(changes);
    }

    @Override
    public void refresh() throws IndexUnavailableException {
        requireOpen();
        whole(cluster.write("POST", path("_refresh"), null));
    }

    @Override
    public void commit(IndexCheckpoint reached) throws IndexUnavailableException {
        requireOpen();
        ObjectNode entry = ClusterClient.JSON.createObjectNode();
        entry.putObject("kept").put(REACHED, reached.toString());
        found(cluster.write("PUT", "/" + writeAlias + "/_doc/" + REACHED + "?require_alias=true", entry));
    }

    @Override
    public SearchResult search(SearchQuery query) throws IndexUnavailableException, Cursor.InvalidException {
        requireOpen();
        String text = query.text();
        if (text == null) {
            return page(query, SearchBody.list(query), null);
        }
        ParsedQuery wanted = ParsedQuery.parse(text);
        Set<String> named = named(query, NameCandidates.of(text));
        if (wanted.clauses().isEmpty() && named.isEmpty()) {
            return new SearchResult(List.of(), 0, true, Map.of(), Map.of(), null);
        }
        return page(query, SearchBody.text(query, wanted, named), query.highlights() ? new Highlighter(wanted) : null);
    }

    /**
     * The ids of entries whose name was typed, among those that the filters let pass: of the document where there is
     * one, otherwise of the identity, which every name has. They are asked for before, as OpenSearch cannot tell in a
     * query whether there is another entry.
     */
    private Set<String> named(SearchQuery query, NameCandidates names) throws IndexUnavailableException {
        if (names.areNone()) {
            return Set.of();
        }
        JsonNode found = search(SearchBody.named(query, names)).path("hits").path("hits");
        if (found.isEmpty() || found.size() > NameCandidates.MAX_OBJECTS) {
            return Set.of();
        }
        ObjectNode body = ClusterClient.JSON.createObjectNode();
        ArrayNode ids = body.putArray("ids");
        for (JsonNode each : found) {
            ids.add(EntryJson.id(EntryKind.DOCUMENT, EntryJson.puri(each.path("_source"))));
        }
        Set<String> named = new HashSet<>();
        for (JsonNode document : found(cluster.read("POST", path("_mget?realtime=false&_source=false"), body))
                .path("docs")) {
            if (document.path("found").asBoolean()) {
                named.add(document.path("_id").asText());
            }
        }
        for (JsonNode each : found) {
            Puri puri = EntryJson.puri(each.path("_source"));
            if (!named.contains(EntryJson.id(EntryKind.DOCUMENT, puri))) {
                named.add(EntryJson.id(EntryKind.IDENTITY, puri));
            }
        }
        return named;
    }

    private SearchResult page(SearchQuery query, ObjectNode body, @Nullable Highlighter highlighter)
            throws IndexUnavailableException, Cursor.InvalidException {
        Cursor after = query.after();
        if (after != null) {
            body.set("search_after", sortValues(seal.open(query, after)));
        }
        JsonNode answer = search(body);
        JsonNode found = answer.path("hits").path("hits");
        List<SearchResult.Hit> many = new ArrayList<>();
        for (JsonNode each : found) {
            if (many.size() < query.limit()) {
                many.add(hit(each, query.text() != null, highlighter));
            }
        }
        List<SearchResult.Hit> hits = withinBudget(query.text() == null ? withAttributes(many) : many);
        JsonNode total = answer.path("hits").path("total");
        return new SearchResult(
                hits,
                total.path("value").asLong(),
                total.path("relation").asText().equals("eq"),
                counts(answer, "collection"),
                counts(answer, "shard"),
                found.size() > hits.size()
                        ? seal.seal(
                                query, ClusterClient.bytes(found.path(hits.size() - 1).path("sort")))
                        : null);
    }

    private static List<SearchResult.Hit> withinBudget(List<SearchResult.Hit> hits) {
        PageBudget budget = new PageBudget();
        return hits.stream().takeWhile(budget::takes).toList();
    }

    private static JsonNode sortValues(byte[] sealed) throws Cursor.InvalidException {
        try {
            return ClusterClient.JSON.readTree(sealed);
        } catch (IOException e) {
            throw new Cursor.InvalidException("this cursor was made by another engine");
        }
    }

    private static SearchResult.Hit hit(JsonNode json, boolean scored, @Nullable Highlighter highlighter) {
        JsonNode source = json.path("_source");
        Puri puri = EntryJson.puri(source);
        Entry entry = EntryJson.read(source);
        Map<String, String> attributes = EntryJson.shown(source);
        return new SearchResult.Hit(
                puri,
                entry.owner(),
                entry.shard(),
                entry.handle(),
                entry.status(),
                switch (entry) {
                    case Entry.OfIdentity identity -> identity.row().mergedInto();
                    case Entry.OfDocument document -> document.document().mergedInto();
                },
                scored ? json.path("_score").asDouble() : null,
                attributes,
                highlighter == null ? Map.of() : highlighter.of(attributes));
    }

    private static Map<String, Long> counts(JsonNode answer, String facet) {
        Map<String, Long> counts = new LinkedHashMap<>();
        for (JsonNode bucket : answer.path("aggregations").path(facet).path("buckets")) {
            counts.put(bucket.path("key").asText(), bucket.path("doc_count").asLong());
        }
        return counts;
    }

    /** Lists are of identities; their texts are looked up for the page alone. */
    private List<SearchResult.Hit> withAttributes(List<SearchResult.Hit> hits) throws IndexUnavailableException {
        if (hits.isEmpty()) {
            return hits;
        }
        ObjectNode body = ClusterClient.JSON.createObjectNode();
        ArrayNode ids = body.putArray("ids");
        hits.forEach(hit -> ids.add(EntryJson.id(EntryKind.DOCUMENT, hit.puri())));
        JsonNode answer = found(cluster.read(
                "POST",
                path("_mget?realtime=false&_source_includes=kept," + String.join(",", EntryJson.ATTRIBUTES)),
                body));
        Map<String, Map<String, String>> attributes = new HashMap<>();
        for (JsonNode each : answer.path("docs")) {
            attributes.put(each.path("_id").asText(), EntryJson.shown(each.path("_source")));
        }
        return hits.stream()
                .map(hit -> new SearchResult.Hit(
                        hit.puri(),
                        hit.owner(),
                        hit.shard(),
                        hit.handle(),
                        hit.status(),
                        hit.mergedInto(),
                        hit.score(),
                        attributes.getOrDefault(EntryJson.id(EntryKind.DOCUMENT, hit.puri()), Map.of()),
                        hit.highlights()))
                .toList();
    }

    @Override
    public @Nullable Entry entry(EntryKind kind, Puri puri) throws IndexUnavailableException {
        requireOpen();
        String id = URLEncoder.encode(EntryJson.id(kind, puri), StandardCharsets.UTF_8);
        JsonNode answer = cluster.read("GET", path("_doc/" + id + "?realtime=false"), null)
                .body();
        if (!answer.has("found")) {
            throw gone();
        }
        return answer.path("found").asBoolean() ? EntryJson.read(answer.path("_source")) : null;
    }

    @Override
    public @Nullable Puri bearer(Handle handle) throws IndexUnavailableException {
        requireOpen();
        ObjectNode body = ClusterClient.JSON.createObjectNode().put("size", 1);
        ArrayNode filter = body.putObject("query").putObject("bool").putArray("filter");
        filter.addObject().putObject("term").put("kind", EntryJson.name(EntryKind.IDENTITY));
        filter.addObject().putObject("term").put("handle", handle.toString());
        JsonNode hit = search(body).path("hits").path("hits").path(0);
        return hit.isMissingNode() ? null : EntryJson.puri(hit.path("_source"));
    }

    @Override
    public void forEach(EntryKind kind, BiConsumer<Puri, Entry> reader) throws IndexUnavailableException {
        requireOpen();
        String moment = whole(cluster.read("POST", path("_search/point_in_time?keep_alive=" + SCAN_KEEP_ALIVE), null))
                .path("pit_id")
                .asText();
        try {
            scan(kind, moment, reader);
        } finally {
            ObjectNode body = ClusterClient.JSON.createObjectNode();
            body.putArray("pit_id").add(moment);
            cluster.read("DELETE", "/_search/point_in_time", body);
        }
    }

    private void scan(EntryKind kind, String moment, BiConsumer<Puri, Entry> reader) throws IndexUnavailableException {
        ObjectNode body = ClusterClient.JSON.createObjectNode().put("size", SCAN_SIZE).put("track_total_hits", false);
        body.putObject("query").putObject("term").put("kind", EntryJson.name(kind));
        body.putObject("pit").put("id", moment).put("keep_alive", SCAN_KEEP_ALIVE);
        body.putArray("sort").addObject().put("_shard_doc", "asc");
        while (true) {
            JsonNode hits = whole(cluster.read("POST", "/_search?allow_partial_search_results=false", body))
                    .path("hits")
                    .path("hits");
            for (JsonNode hit : hits) {
                JsonNode source = hit.path("_source");
                reader.accept(EntryJson.puri(source), EntryJson.read(source));
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
        Map<String, Long> owed = lastOperations();
        flush();
        // OpenSearch keeps what was replaced or removed for copies of shards that may want to be told of it, and
        // learns every half minute what they have.
        RetryState patience = new RetryState(PURGE_WAIT, Integer.MAX_VALUE);
        while (isKeptForCopies(owed)) {
            patience.pause(() -> "OpenSearch keeps what was removed from " + name + " for copies that are behind");
        }
        whole(cluster.ask(
                "POST", path("_forcemerge?only_expunge_deletes=true"), new byte[0], new RetryState(PURGE_MERGE, 1)));
        // Files of the commit before, and the transaction log, go with the next one; those that readers see, with them.
        flush();
        refresh();
    }

    private void flush() throws IndexUnavailableException {
        whole(cluster.write("POST", path("_flush?force=true&wait_if_ongoing=true"), null));
    }

    /** The number of the last operation of each shard. */
    private Map<String, Long> lastOperations() throws IndexUnavailableException {
        Map<String, Long> last = new HashMap<>();
        forEachCopy((shard, copy) ->
                last.merge(shard, copy.path("seq_no").path("max_seq_no").asLong(-1), Math::max));
        return last;
    }

    private boolean isKeptForCopies(Map<String, Long> owed) throws IndexUnavailableException {
        boolean[] kept = {false};
        forEachCopy((shard, copy) -> {
            for (JsonNode lease : copy.path("retention_leases").path("leases")) {
                kept[0] |= lease.path("retaining_seq_no").asLong() <= owed.getOrDefault(shard, -1L);
            }
        });
        return kept[0];
    }

    private void forEachCopy(BiConsumer<String, JsonNode> reader) throws IndexUnavailableException {
        JsonNode shards = whole(cluster.read("GET", path("_stats?level=shards"), null))
                .path("indices")
                .path(name)
                .path("shards");
        shards.properties().forEach(shard -> shard.getValue().forEach(copy -> reader.accept(shard.getKey(), copy)));
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
        return whole(cluster.read("POST", path("_search?allow_partial_search_results=false"), body));
    }

    private String path(String rest) {
        return "/" + name + "/" + rest;
    }

    /** What is answered of some shards alone is no answer. */
    private JsonNode whole(ClusterClient.Answer answer) throws IndexUnavailableException {
        JsonNode body = found(answer);
        if (body.path("_shards").path("failed").asInt() > 0
                || body.path("timed_out").asBoolean()) {
            throw new IndexUnavailableException(
                    "OpenSearch answers of some shards of " + name + " alone", new IOException("the cluster said so"));
        }
        return body;
    }

    private JsonNode found(ClusterClient.Answer answer) throws IndexUnavailableException {
        if (!answer.found()) {
            throw gone();
        }
        return answer.body();
    }

    private IndexUnavailableException gone() {
        return new IndexUnavailableException(
                "OpenSearch has no index " + name + " any more", new IOException("the cluster said so"));
    }

    private void requireOpen() throws IndexUnavailableException {
        if (!open) {
            throw new IndexUnavailableException("the index " + name + " is closed", new IOException("closed here"));
        }
    }

    @Override
    public void close() {
        open = false;
    }
}
