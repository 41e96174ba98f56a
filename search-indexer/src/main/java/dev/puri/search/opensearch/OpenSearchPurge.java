package dev.puri.search.opensearch;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.search.index.IndexUnavailableException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/** Removes deleted and replaced documents from the files of an index. */
final class OpenSearchPurge {
    /** Time limit for all replicas to receive the deletions that a purge removes. */
    private static final Duration REPLICA_TIMEOUT = Duration.ofMinutes(10);

    /** Time limit for the merge of segments in a purge. */
    private static final Duration MERGE_TIMEOUT = Duration.ofHours(2);

    private final ClusterClient cluster;
    private final OpenSearchIndex index;

    OpenSearchPurge(ClusterClient cluster, OpenSearchIndex index) {
        this.cluster = cluster;
        this.index = index;
    }

    /** Blocks until the files contain no document that was deleted or replaced before this call. */
    void run() throws IndexUnavailableException {
        Map<String, Long> lastSequenceNumbers = lastSequenceNumbers();
        flush();
        // OpenSearch retains deleted and replaced documents until all replicas have received the operations. A
        // replica reports its progress every 30 seconds.
        RetryState retries = new RetryState(REPLICA_TIMEOUT, Integer.MAX_VALUE);
        while (isRetained(lastSequenceNumbers)) {
            retries.backOff(() ->
                    "OpenSearch retains deleted documents of the index " + index.name() + " for replicas that lag");
        }
        index.completeBody(cluster.send(
                "POST",
                index.path("_forcemerge?only_expunge_deletes=true"),
                new byte[0],
                new RetryState(MERGE_TIMEOUT, 1)));
        // The flush removes the files of the previous Lucene commit and the transaction log. The refresh releases the
        // files of open readers.
        flush();
        index.refresh();
    }

    private void flush() throws IndexUnavailableException {
        index.completeBody(
                cluster.sendWithWriteTimeout("POST", index.path("_flush?force=true&wait_if_ongoing=true"), null));
    }

    /** Returns the sequence number of the last operation of each shard, by shard. */
    private Map<String, Long> lastSequenceNumbers() throws IndexUnavailableException {
        Map<String, Long> last = new HashMap<>();
        forEachReplica((shard, replica) ->
                last.merge(shard, replica.path("seq_no").path("max_seq_no").asLong(-1), Math::max));
        return last;
    }

    /** Returns whether OpenSearch still retains operations up to these sequence numbers for a replica. */
    private boolean isRetained(Map<String, Long> lastSequenceNumbers) throws IndexUnavailableException {
        boolean[] isRetained = {false};
        forEachReplica((shard, replica) -> {
            for (JsonNode lease : replica.path("retention_leases").path("leases")) {
                isRetained[0] |=
                        lease.path("retaining_seq_no").asLong() <= lastSequenceNumbers.getOrDefault(shard, -1L);
            }
        });
        return isRetained[0];
    }

    /** Passes the number of the shard and the statistics of each replica, including primaries, to a consumer. */
    private void forEachReplica(BiConsumer<String, JsonNode> consumer) throws IndexUnavailableException {
        JsonNode shards = index.completeBody(
                        cluster.sendWithReadTimeout("GET", index.path("_stats?level=shards"), null))
                .path("indices")
                .path(index.name())
                .path("shards");
        shards.properties()
                .forEach(shard -> shard.getValue().forEach(replica -> consumer.accept(shard.getKey(), replica)));
    }
}
