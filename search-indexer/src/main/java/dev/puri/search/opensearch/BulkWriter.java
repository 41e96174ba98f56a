package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.search.index.Entry;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexUnavailableException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Sends changes in requests of bounded size, one after the other, and again what a busy cluster did not take: a
 * slow cluster slows its writer. Each change's version is its place in its partition, so that whatever comes
 * late or twice changes nothing.
 */
final class BulkWriter {
    private static final int MAX_CHANGES = 2_000;
    private static final int MAX_BYTES = 4 * 1024 * 1024;
    private static final int CONFLICT = 409;
    private static final int BAD_REQUEST = 400;

    private final ClusterClient cluster;
    private final String path;

    /**
     * @param alias through which the index is written; what is no alias is refused, so that nothing makes an
     *     index anew that was dropped
     */
    BulkWriter(ClusterClient cluster, String alias) {
        this.cluster = cluster;
        path = "/" + alias + "/_bulk?require_alias=true&filter_path=errors,items.*.status,items.*.error";
    }

    /** One change as the lines of a bulk request. */
    private record Operation(String id, byte[] lines) {}

    /** Returns when the cluster keeps all of them. */
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
        RetryState patience = cluster.patience();
        List<Operation> left = batch;
        while (true) {
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            left.forEach(each -> body.writeBytes(each.lines()));
            ClusterClient.Answer answer = cluster.ask("POST", path, body.toByteArray(), patience);
            if (!answer.found()) {
                throw new IndexUnavailableException(
                        "OpenSearch has no " + path + " any more", new IOException("status 404"));
            }
            List<Operation> again = notTaken(left, answer.body());
            if (again.isEmpty()) {
                return;
            }
            int count = again.size();
            patience.pause(() -> "OpenSearch did not take " + count + " changes in time: it is too busy, or not whole");
            left = again;
        }
    }

    private static List<Operation> notTaken(List<Operation> sent, JsonNode answer) throws IndexUnavailableException {
        List<Operation> again = new ArrayList<>();
        if (!answer.path("errors").asBoolean(true)) {
            return again;
        }
        JsonNode items = answer.path("items");
        if (items.size() != sent.size()) {
            throw new IllegalStateException(sent.size() + " changes were sent and " + items.size() + " answered");
        }
        for (int i = 0; i < sent.size(); i++) {
            // Each is an object of one field, "index" or "delete".
            JsonNode item = items.path(i).iterator().next();
            int status = item.path("status").asInt();
            if (ClusterClient.isPassing(status)) {
                again.add(sent.get(i));
            } else if (item.has("error") && status != CONFLICT) {
                throw refused(
                        sent.get(i).id(),
                        status,
                        item.path("error").path("type").asText());
            }
        }
        return again;
    }

    /** Without the cluster's reason, which may quote what was to be indexed. */
    private static IndexUnavailableException refused(String id, int status, String type) {
        String said = "OpenSearch does not take " + id + ", with " + status + ", " + type;
        if (status == BAD_REQUEST) {
            throw new IllegalStateException(said);
        }
        return new IndexUnavailableException(said, new IOException("the cluster said so"));
    }
}
