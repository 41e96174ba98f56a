package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.search.index.Entry;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexUnavailableException;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Sends changes in bulk requests of bounded size, one after the other, and retries those that a busy cluster rejected.
 * So a slow cluster slows its writer down. The version of a change is its offset, so late and repeated changes have no
 * effect.
 */
final class BulkWriter {
    private static final int MAX_CHANGES = 2_000;
    private static final int MAX_BYTES = 4 * 1024 * 1024;
    private static final int CONFLICT = 409;
    private static final int BAD_REQUEST = 400;

    private final ClusterClient cluster;
    private final String path;

    /**
     * Creates a writer.
     *
     * @param alias the write alias of the index; OpenSearch refuses a write to a missing alias and so does not recreate
     *     a dropped index
     */
    BulkWriter(ClusterClient cluster, String alias) {
        this.cluster = cluster;
        path = "/" + alias + "/_bulk?require_alias=true&filter_path=errors,items.*.status,items.*.error";
    }

    /** The lines of one change in a bulk request. */
    private record Operation(String id, byte[] lines) {}

    /** Sends changes and returns when the cluster has acknowledged all of them. */
    void send(List<IndexChange> changes) throws IndexUnavailableException {
        List<Operation> batch = new ArrayList<>();
        int bytes = 0;
        for (IndexChange change : lastOfEach(changes)) {
            Operation operation = operation(change);
            if (batch.size() == MAX_CHANGES || (!batch.isEmpty() && bytes + operation.lines().length > MAX_BYTES)) {
                sendAll(batch);
                batch.clear();
                bytes = 0;
            }
            batch.add(operation);
            bytes += operation.lines().length;
        }
        if (!batch.isEmpty()) {
            sendAll(batch);
        }
    }

    private static Collection<IndexChange> lastOfEach(List<IndexChange> changes) {
        Map<String, IndexChange> last = new LinkedHashMap<>();
        for (IndexChange change : changes) {
            last.merge(
                    EntryJson.id(change.kind(), change.puri()),
                    change,
                    (one, other) -> one.offset() > other.offset() ? one : other);
        }
        return last.values();
    }

    private static Operation operation(IndexChange change) {
        String id = EntryJson.id(change.kind(), change.puri());
        Entry entry = change.entry();
        ObjectNode action = ClusterClient.JSON.createObjectNode();
        action.putObject(entry == null ? "delete" : "index")
                .put("_id", id)
                .put("version_type", "external")
                .put("version", change.offset() + 1);
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
        lines.writeBytes(ClusterClient.bytes(action));
        lines.write('\n');
        if (entry != null) {
            lines.writeBytes(ClusterClient.bytes(EntryJson.write(change.puri(), entry, change.declared())));
            lines.write('\n');
        }
        return new Operation(id, lines.toByteArray());
    }

    private void sendAll(List<Operation> batch) throws IndexUnavailableException {
        RetryState retries = cluster.writeRetries();
        List<Operation> remaining = batch;
        while (true) {
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            remaining.forEach(each -> body.writeBytes(each.lines()));
            ClusterClient.Response response = cluster.send("POST", path, body.toByteArray(), retries);
            if (!response.found()) {
                throw new IndexUnavailableException("OpenSearch does not have " + path + " any more");
            }
            List<Operation> rejected = rejected(remaining, response.body());
            if (rejected.isEmpty()) {
                return;
            }
            int count = rejected.size();
            retries.backOff(() -> "OpenSearch did not accept " + count + " changes in time");
            remaining = rejected;
        }
    }

    /** Returns the operations that can be retried. A version conflict is no failure: the change is already there. */
    private static List<Operation> rejected(List<Operation> sent, JsonNode response) throws IndexUnavailableException {
        List<Operation> rejected = new ArrayList<>();
        if (!response.path("errors").asBoolean(true)) {
            return rejected;
        }
        JsonNode items = response.path("items");
        if (items.size() != sent.size()) {
            throw new IllegalStateException(sent.size() + " changes were sent, the response has " + items.size());
        }
        for (int i = 0; i < sent.size(); i++) {
            // An item is an object with one field, "index" or "delete".
            JsonNode item = items.path(i).iterator().next();
            int status = item.path("status").asInt();
            if (ClusterClient.isRetryable(status)) {
                rejected.add(sent.get(i));
            } else if (item.has("error") && status != CONFLICT) {
                throw failure(
                        sent.get(i).id(),
                        status,
                        item.path("error").path("type").asText());
            }
        }
        return rejected;
    }

    /** Returns an exception without the cluster's reason, which may quote the indexed text. */
    private static IndexUnavailableException failure(String id, int status, String type) {
        String message = "OpenSearch refuses " + id + " with status " + status + ", " + type;
        if (status == BAD_REQUEST) {
            throw new IllegalStateException(message);
        }
        return new IndexUnavailableException(message);
    }
}
