package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.schemas.log.Entry;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexUnavailableException;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Sends changes in bulk requests of bounded size, one after the other, and retries the changes that a busy cluster
 * rejected. So a slow cluster slows the writer down.
 *
 * <p>The external version of a change is its offset plus one. OpenSearch ignores a change if the entry already has this
 * version or a later version. So a repeated or outdated change has no effect.
 */
final class BulkWriter {
    private static final int MAX_REQUEST_CHANGES = 2_000;
    private static final int MAX_REQUEST_BYTES = 4 * 1024 * 1024;
    private static final int STATUS_CONFLICT = 409;
    private static final int STATUS_BAD_REQUEST = 400;

    private final ClusterClient cluster;
    private final String alias;
    private final String path;

    /**
     * Creates a writer.
     *
     * @param alias the write alias of the index; see {@link OpenSearchStore}
     */
    BulkWriter(ClusterClient cluster, String alias) {
        this.cluster = cluster;
        this.alias = alias;
        path = "/" + alias + "/_bulk?require_alias=true&filter_path=errors,items.*.status,items.*.error";
    }

    /**
     * One change as a part of a bulk request.
     *
     * @param id the id of the document
     * @param lines one or two lines of JSON
     */
    private record Operation(String id, byte[] lines) {}

    /** Sends changes and returns when the cluster has acknowledged all of them. */
    void send(List<IndexChange> changes) throws IndexUnavailableException {
        List<Operation> batch = new ArrayList<>();
        int batchBytes = 0;
        for (IndexChange change : latestPerEntry(changes)) {
            Operation operation = toOperation(change);
            boolean fits =
                    batch.size() < MAX_REQUEST_CHANGES && batchBytes + operation.lines().length <= MAX_REQUEST_BYTES;
            if (!batch.isEmpty() && !fits) {
                sendBatch(batch);
                batch.clear();
                batchBytes = 0;
            }
            batch.add(operation);
            batchBytes += operation.lines().length;
        }
        if (!batch.isEmpty()) {
            sendBatch(batch);
        }
    }

    /** Returns the change with the largest offset for each entry. */
    private static Collection<IndexChange> latestPerEntry(List<IndexChange> changes) {
        Map<String, IndexChange> latest = new LinkedHashMap<>();
        for (IndexChange change : changes) {
            latest.merge(
                    EntryJson.id(change.kind(), change.puri()),
                    change,
                    (first, second) -> first.offset() > second.offset() ? first : second);
        }
        return latest.values();
    }

    private static Operation toOperation(IndexChange change) {
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
            lines.writeBytes(ClusterClient.bytes(
                    EntryJson.toJson(change.partition(), change.puri(), entry, change.searchedAttributes())));
            lines.write('\n');
        }
        return new Operation(id, lines.toByteArray());
    }

    private void sendBatch(List<Operation> batch) throws IndexUnavailableException {
        RetryState retries = cluster.newWriteRetryState();
        List<Operation> remaining = batch;
        while (true) {
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            remaining.forEach(operation -> body.writeBytes(operation.lines()));
            ClusterClient.Response response = cluster.send("POST", path, body.toByteArray(), retries);
            if (!response.isFound()) {
                throw new IndexUnavailableException("the OpenSearch alias " + alias + " does not exist any more");
            }
            List<Operation> toRetry = operationsToRetry(remaining, response.body());
            if (toRetry.isEmpty()) {
                return;
            }
            int retryCount = toRetry.size();
            retries.backOff(() -> "OpenSearch did not accept " + retryCount + " changes in time");
            remaining = toRetry;
        }
    }

    /**
     * Returns the operations to retry. A version conflict is not a failure: the index already has this change or a
     * later change.
     *
     * @throws IndexUnavailableException if the cluster refused an operation and a retry is useless
     */
    private static List<Operation> operationsToRetry(List<Operation> sent, JsonNode response)
            throws IndexUnavailableException {
        List<Operation> toRetry = new ArrayList<>();
        if (!response.path("errors").asBoolean(true)) {
            return toRetry;
        }
        JsonNode items = response.path("items");
        if (items.size() != sent.size()) {
            throw new IllegalStateException("the bulk request has " + sent.size() + " changes, but the response has "
                    + items.size() + " items");
        }
        for (int i = 0; i < sent.size(); i++) {
            // An item is an object with one field, "index" or "delete".
            JsonNode item = items.path(i).iterator().next();
            int status = item.path("status").asInt();
            if (ClusterClient.isRetryable(status)) {
                toRetry.add(sent.get(i));
            } else if (item.has("error") && status != STATUS_CONFLICT) {
                throw refusal(
                        sent.get(i).id(),
                        status,
                        item.path("error").path("type").asText());
            }
        }
        return toRetry;
    }

    /**
     * Returns the exception for a refused operation. The message does not contain the cluster's reason, because the
     * reason may quote indexed text.
     *
     * @throws IllegalStateException if the operation is invalid, which is a bug of this server
     */
    private static IndexUnavailableException refusal(String id, int status, String type) {
        String message = "OpenSearch refused " + id + " with status " + status + ", " + type;
        if (status == STATUS_BAD_REQUEST) {
            throw new IllegalStateException(message);
        }
        return new IndexUnavailableException(message);
    }
}
